"""The questions to context sources, and the bounds of their answers."""
