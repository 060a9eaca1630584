"""Real engines with real weights: what they accept, and whether what they answer is understood."""
