"""Code for every other package, independent of tools: tasks, processes, texts, JSON values, changes."""
