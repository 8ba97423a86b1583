"""Repeating: a piece of work is done again where the server or the way to it ended it, and never twice.

What was lost before its commit was sent has left nothing behind, so it is done again. A commit that got no answer may
have come through: another connection asks how the transaction ended. Where the server crashed meanwhile it may have given
the transaction's id to another one, so that "committed" says nothing then. What was written tells it then, if the work has
said how (`Database.prove_by`): an append leaves its client ids, or a mark of its own. Else the error says what to do.

Source: PostgreSQL's documentation of serialization failures, which are to be tried again, and of `pg_xact_status`, which
is made for a commit whose answer was lost. That ids are given again after a crash: `tests/contract/postgres/test_repeating.py`.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import psycopg
from psycopg import errors

from everfold.adapters.postgres.connection import Database
from everfold.adapters.sql.database import Bound
from everfold.errors import EverfoldError, OutcomeUnknownError, StoreError, StoreUnavailableError

T = TypeVar("T")

REPEAT_SECS = 10.0
"""How long a piece of work is tried, and a connection waited for. Source: own choice; a server that is restarted answers again
within seconds, and a person waits no longer."""

FIRST_PAUSE_SECS = 0.01
MOST_PAUSE_SECS = 0.5
"""Between two tries, each pause twice the one before, less a random part of it. Source: AWS, "Exponential backoff and jitter"
(2015)."""

Take = Callable[[], AbstractContextManager[Database]]
"""Takes a connection, for as long as its context lasts. Raises `StoreUnavailableError` where there is none yet."""


@dataclass(slots=True)
class UnansweredError(Exception, Generic[T]):
    """The connection was lost between a commit and its answer.

    Attributes:
        transaction_id: By which another connection learns how it ended.
        server_life: What `Database.read_server_life` gave on the lost connection.
        done: What the work gave, if it was committed.
        proof: The queries of `Database.prove_by`; None where the work has not called it.
    """

    transaction_id: int
    server_life: int | None
    done: T
    proof: tuple[Bound, ...] | None = None


def repeat(take: Take, work: Callable[[Database], T], *, path: str) -> T:
    """What the work gives, tried again on another connection for as long as `REPEAT_SECS` where it left nothing behind.

    Raises:
        StoreUnavailableError: the server was out of reach for as long, or cannot tell whether it was stored.
        OutcomeUnknownError: it cannot tell whether messages were stored that have no client id.
    """
    ends_at = time.monotonic() + REPEAT_SECS
    for pause in _list_pauses():
        database: Database | None = None
        try:
            with take() as database:
                return work(database)
        except UnansweredError as lost:
            unanswered = cast("UnansweredError[T]", lost)
            if _has_committed(take, unanswered, path=path):
                return unanswered.done
        except (psycopg.Error, StoreError) as error:
            if time.monotonic() + pause > ends_at or not _may_pass(error, database):
                raise
        time.sleep(pause)
    raise AssertionError("pauses have no end")


def commit(database: Database, work: Callable[[Database], T]) -> T:
    """What the work gives, in a transaction that was committed.

    Raises:
        UnansweredError: whether it was committed is not known.
    """
    done: list[T] = []
    try:
        with database.transaction():
            done.append(work(database))
    except psycopg.Error as error:
        if database.commit is not None and database.is_lost:
            raise UnansweredError(database.commit, database.server_life, done[0], database.proof) from error
        raise
    return done[0]


def _may_pass(error: Exception, database: Database | None) -> bool:
    """Whether there was no connection, or it was lost, or the server ended the transaction for another one's sake."""
    if database is None:
        return isinstance(error, StoreUnavailableError)
    return database.is_lost or isinstance(error, (errors.DeadlockDetected, errors.SerializationFailure))


def _has_committed(take: Take, lost: UnansweredError[T], *, path: str) -> bool:
    """Whether a transaction was committed, asked for until the server has ended it."""

    def ask(database: Database) -> str | None:
        status = database.read_transaction_status(lost.transaction_id, lost.server_life)
        if status is None and lost.proof is not None:  # it has ended, one way or the other
            return "committed" if any(database.rows(name, **values) for name, values in lost.proof) else "aborted"
        return status

    ends_at = time.monotonic() + REPEAT_SECS
    status: str | None = "in progress"
    try:
        for pause in _list_pauses():
            status = repeat(take, ask, path=path)
            if status != "in progress" or time.monotonic() + pause > ends_at:
                break
            time.sleep(pause)
    except (psycopg.Error, StoreError) as error:
        raise _unknown(path, lost) from error
    if status not in ("committed", "aborted"):
        raise _unknown(path, lost)
    return status == "committed"


def _unknown(path: str, lost: UnansweredError[T]) -> EverfoldError:
    text = f"{path}: the connection was lost while transaction {lost.transaction_id} was committed, and the server does not say whether it was"
    if lost.proof == ():
        text = f"{text}; append again with the same client ids: what is stored is not stored twice"
        return StoreUnavailableError(text, path=path)
    text = f"{text}; read what is stored before you write it again"
    return StoreUnavailableError(text, path=path) if lost.proof is None else OutcomeUnknownError(text, path=path)


def _list_pauses() -> Iterator[float]:
    pause = FIRST_PAUSE_SECS
    while True:
        yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads tries, hides nothing
        pause = min(2 * pause, MOST_PAUSE_SECS)
