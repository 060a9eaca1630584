"""What must hold across a config's parts and files, beyond what its records say of themselves."""
