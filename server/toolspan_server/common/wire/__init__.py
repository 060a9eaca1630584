"""What goes over the wires, shown to a person who looks for a fault: told, and as text without secrets."""
