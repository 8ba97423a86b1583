"""Models: what answers a request for text. Nothing here is imported until a model is configured."""
