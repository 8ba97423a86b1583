"""Who is told of what the engine does."""
