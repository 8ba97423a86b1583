"""How often a store goes to its database and back: a call of a connection is one way, however many bindings it has."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest

from everfold.adapters.postgres.connection import Database as PostgresDatabase
from everfold.adapters.sql.database import Bound
from everfold.adapters.sqlite.connection import Database as SqliteDatabase


class RoundTrips:
    """What was asked of every database since the last look, by the names of queries; `BEGIN` and `COMMIT` count too."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._asked: list[str] = []
        self._depth = 0
        for kind in (SqliteDatabase, PostgresDatabase):
            for method in ("rows", "rows_each", "rows_all", "run", "run_all", "run_each", "insert"):
                patch.setattr(kind, method, self._counted(getattr(kind, method)))
            for method in ("transaction", "snapshot"):
                patch.setattr(kind, method, self._bracketed(getattr(kind, method)))

    def _counted(self, whole: Callable[..., object]) -> Callable[..., object]:
        def ask(database: object, asked: str | Sequence[Bound], *given: object, **values: object) -> object:
            if not self._depth and asked and given != ([],):
                self._asked.append(asked if isinstance(asked, str) else ", ".join(name for name, _ in asked))
            self._depth += 1
            try:
                return whole(database, asked, *given, **values)
            finally:
                self._depth -= 1

        return ask

    def _bracketed(self, whole: Callable[..., AbstractContextManager[None]]) -> Callable[..., object]:
        @contextmanager
        def bracket(database: object) -> Iterator[None]:
            self._asked.append("BEGIN")
            with whole(database):
                yield
            self._asked.append("COMMIT")

        return bracket

    def take(self) -> list[str]:
        """What was asked, in order, and begin anew."""
        asked, self._asked = self._asked, []
        return asked


def spell_counts(asked: list[str]) -> str:
    """What was asked, as an error of a test shows it."""
    return f"{len(asked)}: {dict(Counter(asked))}"
