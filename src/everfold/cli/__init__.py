"""The command line: parse, one engine call, render."""
