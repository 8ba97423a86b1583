"""Models and embedders called within their bounds."""
