"""What of memory and history is shown: recall, snapshot, delta, vectors."""
