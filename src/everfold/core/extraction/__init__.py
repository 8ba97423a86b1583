"""From messages to candidates: what may be read, what a model is asked, what it may answer."""
