"""What a question needs: a config's connected servers, the model that answers, the conversation that is kept,
and the ``Host`` in which all of it runs, with or without a person."""
