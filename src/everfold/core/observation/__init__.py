"""What the engine publishes about its work: events, spans, hooks, usage, overviews."""
