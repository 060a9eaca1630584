"""What the verbs that ask models share: connected servers, the models, the kept conversation."""
