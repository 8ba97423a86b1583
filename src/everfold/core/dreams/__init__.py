"""Consolidation: from items to topics."""
