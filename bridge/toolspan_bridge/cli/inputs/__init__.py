"""What the command line is given: options, arguments of tools, images, the name of a server."""
