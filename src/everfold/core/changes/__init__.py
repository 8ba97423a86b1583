"""The words of change: what a statement itself says is not as it was, as rows with an example each, and how they are read."""
