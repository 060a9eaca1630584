"""The client that the suites test: our toolbox, with everything that it offers a server."""
