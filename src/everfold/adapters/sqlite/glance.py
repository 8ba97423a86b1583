"""Reading one row in the caller's own thread: where a change of threads would cost more than the row."""

from threading import Lock

import apsw

from everfold.adapters.sqlite import access, log
from everfold.adapters.sqlite.connection import DAMAGED, Database
from everfold.adapters.sqlite.places import Places
from everfold.core.access import AccessKey
from everfold.core.sessions import SessionId
from everfold.core.state import SessionState
from everfold.errors import EverfoldError

MOST_GLANCES = 1024
"""How many sessions' states a store remembers between two looks."""


class Glance:
    """A look at one row by its key, without a change of threads: some ten microseconds.

    In WAL mode a reader never waits for a writer; where it would have to (recovery after a crash) nothing is found
    and the caller takes the long way. A state whose revision is known is not parsed again.
    """

    def __init__(self, path: str) -> None:
        self._database = Database(path, read_only=True)
        self._database.connection.set_busy_timeout(0)
        self._lock = Lock()  # who holds it has the connection
        self._places = Places(self._database)
        self._known: dict[SessionId, SessionState] = {}

    def find_state(self, session_id: SessionId) -> SessionState | None:
        """The state of a session, or None when it cannot be had at once."""
        if self._lock.locked():
            return None
        with self._lock:
            return self._find_state(session_id)

    def _find_state(self, session_id: SessionId) -> SessionState | None:
        try:
            session_key = self._places.place(session_id).session_key
            if (known := self._known.get(session_id)) is not None:
                row = self._database.row("read_revision", session_key=session_key)
                if row is not None and row[0] == known.revision:
                    return known
            state = log.read_state(self._database, self._places, session_id)
        except (apsw.Error, EverfoldError, *DAMAGED):
            return None  # the long way says what it is
        self.remember(session_id, state)
        return state

    def find_key(self, secret_hash: str) -> AccessKey | None:
        """The key with this hash of its secret, or None when there is none, or it cannot be had at once."""
        if self._lock.locked():
            return None
        with self._lock:
            try:
                return access.find_key(self._database, secret_hash)
            except apsw.Error:
                return None

    def remember(self, session_id: SessionId, state: SessionState) -> None:
        """Know a state that was just written, so that it need not be read back."""
        if len(self._known) >= MOST_GLANCES:
            self._known.clear()
        self._known[session_id] = state

    def close(self) -> None:
        """Close the connection, once no other thread looks."""
        with self._lock:
            self._database.close()
