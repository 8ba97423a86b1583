"""What is told of what the engine does: events, spans, hooks, usage, overviews."""
