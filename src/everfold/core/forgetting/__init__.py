"""What an erase replaces, in the log and in memory."""
