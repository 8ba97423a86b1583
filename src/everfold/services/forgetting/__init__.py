"""Erasing, wiping, carrying away."""
