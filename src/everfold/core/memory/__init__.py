"""What memory is kept as: items, topics, the block, their rows."""
