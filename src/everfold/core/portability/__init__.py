"""A user's document, and back."""
