"""A turn: the window, and what memory does around it."""
