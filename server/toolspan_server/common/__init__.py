"""What every other package may use, and what knows no tool: tasks, processes, texts, JSON values, changes."""
