"""What a window shows of memory and history: recall, snapshot, delta, vectors."""
