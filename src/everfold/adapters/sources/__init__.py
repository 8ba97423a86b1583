"""Context sources that reach the world. Nothing here is imported until a source is configured."""
