"""``--debug``: what goes over the wires to providers and servers, on stderr, without secrets."""
