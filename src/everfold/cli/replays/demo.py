"""The conversation of `everfold demo`; see `everfold.demo`."""

from everfold.demo.reading import Demo, FactKind, PlantedFact, read_demo

__all__ = ["Demo", "FactKind", "PlantedFact", "read_demo"]
