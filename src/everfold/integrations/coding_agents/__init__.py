"""Coding agents that talk to their provider themselves: hooks in the client, and a daemon that answers them."""
