"""How questions are answered: by which model, with which instructions, within which limits."""
