"""Data of a declared shape: records, values, YAML and JSON with positions, interpolation, fault messages."""
