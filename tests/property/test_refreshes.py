"""Refreshes among everything else that a session does, in every store: the guarantees hold whatever comes when."""

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.property.test_guarantees import KINDS, Kind, store_url
from tests.support.proofs import Prover
from tests.support.sizes import examples

import everfold
from everfold import Everfold
from everfold.core.windows.entries import MessageEntry
from everfold.core.windows.window import Window
from everfold.testing import GeneratedLog, st_openai_log
from everfold.testing.kit.builders import talk, user

LIMIT = 4_000
NAMES = ("talk", "talk", "talk", "log_", "refresh", "refresh", "compact", "erase", "reopen")
DOINGS = st.lists(st.sampled_from(NAMES), max_size=12)


def find_shown(window: Window) -> list[int]:
    """The refreshes that a window shows."""
    return [it.message.seq for it in window.entries if isinstance(it, MessageEntry) and it.message.source == "refresh"]


class Doings:
    """What a session does, by name, under proof; `newest` is the refresh that is to be shown."""

    def __init__(self, engine: Everfold, prover: Prover, log: GeneratedLog, size: int) -> None:
        self.engine = engine
        self.prover = prover
        self.log = log
        self.size = size
        self.newest: list[int] = []
        self.count = 0

    async def talk(self) -> None:
        """Six turns."""
        await self.prover.append(*talk(6, first=self.count * 6))

    async def log_(self) -> None:
        """Any log, tools and all; its last step may stay open."""
        for wire in self.log.messages:
            await self.prover.append(wire)

    async def refresh(self) -> None:
        """Another refresh."""
        self.newest = [await self.prover.refresh(user(f"News {self.count}: " + "rain, " * self.size))]

    async def compact(self) -> None:
        """Fold all that can be."""
        await self.prover.session.compact(keep_recent=1)

    async def erase(self) -> None:
        """Erase the newest refresh."""
        for seq in self.newest:
            await self.prover.session.erase(seq)
            self.prover.erased.add(seq)
        self.newest = []

    async def reopen(self) -> None:
        """Go on with a new handle."""
        await self.prover.reopen(self.engine)

    async def do(self, name: str) -> None:
        """Do one of them, and prove the window after it."""
        self.count += 1
        await getattr(self, name)()
        assert find_shown(await self.prover.window()) == self.newest


async def play(url: str, doings: list[str], log: GeneratedLog, size: int) -> None:
    """Do them all over one store."""
    given = {"compaction": {"synchronous": True, "min_fold_tokens": 0}}
    async with everfold.open(url, settings=given) as engine:
        prover = Prover(await engine.session(limit=LIMIT))
        session = Doings(engine, prover, log, size)
        for doing in doings:
            await session.do(doing)
        await prover.check_all()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(doings=DOINGS, log=st_openai_log(max_messages=12), size=st.integers(1, 120))
def test_the_newest_refresh_is_shown_and_no_other(kind: Kind, doings: list[str], log: GeneratedLog, size: int) -> None:
    """After talk, tools, folds, erasures and restarts in any order a window shows the last refresh, once, and all holds."""
    with store_url(kind) as url:
        anyio.run(lambda: play(url, doings, log, size))
