"""What Everfold decides, as pure functions over values: no I/O, no clock, no randomness, no logging, no async."""
