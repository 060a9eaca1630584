"""What goes with a question: resources and prompts of servers, files, and whether the model takes them."""
