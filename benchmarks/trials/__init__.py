"""How fast trials of validation are made: ``python -m benchmarks.trials``."""
