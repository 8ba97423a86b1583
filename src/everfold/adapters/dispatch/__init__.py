"""Where background work runs: in this process."""
