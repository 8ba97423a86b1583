"""`everfold demo`."""

NAME = "demo"


def run() -> None:
    """Demo."""
