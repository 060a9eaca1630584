"""What is measured: one module a measure."""
