"""The run that every door passes, whatever framework is behind it."""
