"""What touches the world: stores, files, clocks and ids."""
