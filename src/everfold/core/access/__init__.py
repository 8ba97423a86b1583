"""Users, keys, limits and repeated writes."""
