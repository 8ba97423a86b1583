"""The shapes of what the API takes and gives, a file a subject: the wire, apart from what the engine holds."""
