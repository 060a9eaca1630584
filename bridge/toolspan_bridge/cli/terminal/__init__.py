"""The output of the command line, and its reports of errors and answers."""
