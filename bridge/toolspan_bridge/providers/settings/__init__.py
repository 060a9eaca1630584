"""Addresses and keys of providers, from environment variables and the config."""
