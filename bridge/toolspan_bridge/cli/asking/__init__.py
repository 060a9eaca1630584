"""The common part of verbs that ask models: connected servers, the models, the saved conversation."""
