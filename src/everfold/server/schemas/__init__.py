"""The schemas of what the API takes and gives, a file a subject."""
