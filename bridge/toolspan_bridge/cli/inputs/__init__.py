"""The input of the command line: options, arguments of tools, images, the name of a server."""
