"""Loads config files: to one ``Config``, or to every problem in them."""
