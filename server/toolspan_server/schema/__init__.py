"""Data of a declared shape: records, values, YAML and JSON with positions, interpolation, faults in words."""
