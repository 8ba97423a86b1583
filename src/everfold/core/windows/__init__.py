"""What a model is shown next, and how it is written for each provider."""
