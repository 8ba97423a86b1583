"""What operators look at: traces, strips, verification, replay."""
