"""Sessions opened, appended to, read and searched."""
