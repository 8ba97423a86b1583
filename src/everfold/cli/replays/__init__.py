"""Replays of conversations and their report."""
