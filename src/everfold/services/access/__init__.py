"""Users, keys, limits, repeated writes."""
