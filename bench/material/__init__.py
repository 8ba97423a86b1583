"""Generated conversations: what benchmarks, tests and the demo play."""
