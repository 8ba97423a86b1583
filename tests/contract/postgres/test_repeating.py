"""What is repeated when the way to the server breaks off: everything that left nothing behind, and nothing twice."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.cutting import Cutter, Place, cutting

import everfold
from everfold import Session
from everfold.adapters.postgres.connection import Database
from everfold.errors import StoreUnavailableError
from everfold.testing.kit.builders import user


@pytest.fixture
def cutter(database_url: str) -> Iterator[Cutter]:
    """A way to an empty database."""
    with tempfile.TemporaryDirectory() as folder, cutting(database_url, Path(folder)) as opened:
        yield opened


async def _read(session: Session) -> list[str]:
    """The texts of the log."""
    return [message.view.text for message in await session.messages()]


@pytest.mark.parametrize("place", ["begun", "unsent", "unanswered"])
async def test_an_append_over_a_lost_connection_is_stored_once(cutter: Cutter, place: Place) -> None:
    """Wherever the connection is lost, the append returns, and its message is in the log once."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = place
        assert await session.append(user("The second one.")) == [2]
        assert cutter.place is None
        assert await _read(session) == ["The first one.", "The second one."]
        assert (await session.verify()).is_sound


async def test_a_read_over_a_lost_connection_is_asked_again(cutter: Cutter) -> None:
    """A lost connection is not seen by who reads."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = "read"
        assert await _read(session) == ["The first one."]
        assert cutter.place is None


async def test_a_commit_that_nobody_knows_of_is_settled_by_the_client_id(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server has forgotten how a transaction ended the error says so; the same append again stores it once."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        with monkeypatch.context() as patch:
            patch.setattr(Database, "read_transaction_status", lambda *_: None)
            cutter.place = "unanswered"
            with pytest.raises(StoreUnavailableError, match="same client ids"):
                await session.append(user("The second one."), client_ids=["mine"])
        assert await session.append(user("The second one."), client_ids=["mine"]) == [2]
        assert (await session.verify()).is_sound
