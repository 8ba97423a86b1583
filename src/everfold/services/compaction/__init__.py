"""Compactions begun, worked on, committed; sources asked."""
