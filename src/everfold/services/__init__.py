"""What Everfold does, a verb a file: load, ask the core for a decision as data, act, commit once."""
