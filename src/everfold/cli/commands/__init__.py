"""A file a command: parse, one call of the engine, show."""
