"""The machine's own time and randomness."""
