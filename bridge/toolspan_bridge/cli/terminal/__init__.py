"""What the command line prints, and how it reports errors and answers."""
