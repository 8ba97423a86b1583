"""Benchmarks: `python -m bench [name ...] [--quick]`. See README.md in this folder."""
