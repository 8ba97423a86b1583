"""The in-memory store holds to the contract."""

import pytest

from everfold.adapters.inmemory.store import InMemoryStore
from everfold.testing.contract import StoreContract


class TestInMemoryStore(StoreContract):
    """Runs the whole contract."""

    @pytest.fixture
    def store(self) -> InMemoryStore:
        """An empty store."""
        return InMemoryStore()
