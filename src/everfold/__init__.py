"""Everfold: a context and memory engine for long-running LLM agents."""
