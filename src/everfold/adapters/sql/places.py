"""Where the rows of a session are: its own key, and the stretches of its parents that it shares.

A lineage never changes, so each is read once for each connection and remembered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import cast

from everfold.adapters.sql.codec import lineage_from_text
from everfold.adapters.sql.database import Database
from everfold.core.log.sessions import Segment, find_stretches
from everfold.core.primitives.ids import SessionId
from everfold.errors import NotFoundError

MOST_PLACES = 20_000
"""How many sessions one connection remembers. Source: own choice; some megabytes, as of `MOST_KEYS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Integer keys of a session and of what belongs to it."""

    session_key: int
    user_key: int
    agent_key: int
    lineage: tuple[Segment, ...]

    @property
    def keys(self) -> dict[str, int]:
        """What a query binds to find what is the session's own."""
        return {"user_key": self.user_key, "session_key": self.session_key}


class Places:
    """The places of the sessions that one connection has seen."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places: dict[SessionId, Place] = {}

    def place(self, session_id: SessionId) -> Place:
        """The place of a session."""
        found = self._places.get(session_id)
        if found is None:
            found = self._read(session_id)
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            self._places[session_id] = found
        return found

    def _read(self, session_id: SessionId) -> Place:
        row = self._database.row("find_keys", session_id=session_id)
        if row is None:
            raise NotFoundError(
                f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id
            )
        session_key, user_key, agent_key, lineage = cast("tuple[int, int, int, str]", row)
        return Place(
            session_key=session_key, user_key=user_key, agent_key=agent_key, lineage=lineage_from_text(lineage)
        )

    def ranges(self, session_id: SessionId, seqs: Sequence[int]) -> Iterator[dict[str, int]]:
        """Rising sequence numbers as runs, in order: what a query binds for each, `keys` with `first_seq` and `last_seq`."""
        lineage = self.place(session_id).lineage
        for first, last in runs_of(seqs):
            for stretch in find_stretches(lineage, first, last):
                keys = self.place(stretch.session_id).keys
                yield {**keys, "first_seq": stretch.first_seq, "last_seq": stretch.last_seq}


def runs_of(seqs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Rising numbers as runs of neighbours."""
    if isinstance(seqs, range) and seqs.step == 1:
        if seqs:
            yield seqs.start, seqs.stop - 1
        return
    for _, group in groupby(enumerate(seqs), lambda pair: pair[1] - pair[0]):
        run = [seq for _, seq in group]
        yield run[0], run[-1]
