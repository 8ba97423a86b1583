"""Doors: Everfold behind the frameworks and protocols that agents are built with, a module each."""
