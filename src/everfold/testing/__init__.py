"""The kit that proves an Everfold."""
