"""Judges of requests: what a provider refuses, and what a window must never show."""
