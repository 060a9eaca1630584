"""The context of a model: what a request takes of it, and what is left out where it is too short for all."""
