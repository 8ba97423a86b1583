"""What stands for folded messages: extractive digests, and those of a model with their checks."""
