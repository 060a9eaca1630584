"""One attack a module; see the package above."""
