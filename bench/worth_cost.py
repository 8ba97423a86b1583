"""What folding costs in tokens: sent again per token that came in, what stays cached, and the price beside two others.

- *Endless*: the first messages of the endless log (seed 1) at 8,000 and 32,000 tokens.
- *tau chain*: the 80 conversations of the airline agent one after another in one session, without their system
  messages, at 8,000, 32,000 and 128,000 tokens. They are the same in both halves: nothing is chosen by them.

Both are replays, as `everfold replay` plays them, without a model and with compactions inline. The prices are those of
`UNIT_PRICES` unless others are given. *Tokens read uncached* are those of all requests that the request before did not
begin with, the first reading of each message included; *sent again* are those that cache breaks report.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final, cast

from bench.material.logs import endless_log
from bench.memory_filling import unsynced
from bench.opening import temporary_folder
from bench.recall import DATA
from bench.report import Row
from bench.transcripts.reading import read_transcript
from bench.worth_windows import PLAIN_SETTINGS, USER, Scope, open_at
from everfold.core.log.transcripts import TranscriptMessage
from everfold.core.observation.costs import Prices
from everfold.core.primitives.json_values import JsonObject
from everfold.services.inspection.replay import ReplayReport
from everfold.testing.kit.fakes import FakeClock

ENDLESS_COUNTS: Final = {8_000: 1_500, 32_000: 3_000}
"""Messages by limit, so that each is compacted more than a hundred times and takes under a minute of processor time."""
CHAIN_LIMITS: Final = (8_000, 32_000, 128_000)
MOST_UNCACHED: Final = {
    ("endless", 8_000): 1.2,
    ("endless", 32_000): 1.9,
    ("tau chain", 8_000): 1.85,
    ("tau chain", 32_000): 2.15,
    ("tau chain", 128_000): 1.95,
}
LEAST_CACHED: Final = {("endless", 8_000): 0.78, ("endless", 32_000): 0.92, ("tau chain", 128_000): 0.995}
_CHAIN: Final = "tau-airline-dev.jsonl"


def measure_cost(scope: Scope) -> list[Row]:
    """Both logs at their limits."""
    rows = [
        row
        for limit, messages_count in ENDLESS_COUNTS.items()
        for row in _measure("endless", list(_read_endless(messages_count)), limit, scope.prices)
    ]
    if not (DATA / _CHAIN).exists():
        return [*rows, Row(figure="tau chain", value=f"not measured: no EVERFOLD_DATA with {_CHAIN}")]
    talks = read_transcript(DATA / _CHAIN).conversations
    chain = [it for talk in talks for it in talk.messages if it.wire["role"] != "system"]
    return rows + [row for limit in CHAIN_LIMITS for row in _measure("tau chain", chain, limit, scope.prices)]


def _read_endless(messages_count: int) -> Iterator[TranscriptMessage]:
    for line, entry in enumerate(endless_log(1, messages_count=messages_count), 1):
        wire = cast("JsonObject", entry.wire)
        yield TranscriptMessage(wire=wire, wire_format="openai", said_at=entry.said_at, line=line)


def _measure(name: str, messages: Sequence[TranscriptMessage], limit_tokens: int, prices: Prices) -> list[Row]:
    report = asyncio.run(_replay(messages, limit_tokens))
    at = f"{name} at {limit_tokens:,}"
    key = (name, limit_tokens)
    compactions = ", ".join(f"{count} by {trigger}" for trigger, count in report.compactions.items()) or "none"
    return [
        Row(figure=f"{at}: tokens read uncached per token in", value=report.uncached_per_token, most=MOST_UNCACHED[key]),
        Row(figure=f"{at}: tokens sent again per token in, by cache breaks", value=report.resent_per_token),
        Row(figure=f"{at}: share that stays cached", value=report.stable_share, least=LEAST_CACHED.get(key), digits=3),
        Row(figure=f"{at}: windows over the budget, of {report.requests_count:,}", value=float(report.over_budget_count), most=0, digits=0),
        Row(figure=f"{at}: compactions of {report.messages_count:,} messages, {report.raw_tokens:,} tokens", value=compactions),
        *_cost_rows(at, report, prices),
    ]  # fmt: skip


def _cost_rows(at: str, report: ReplayReport, prices: Prices) -> list[Row]:
    of = f"{at}: input at {prices.input:g} and {prices.cached:g} per million tokens"
    ways = {"whole": report.input.whole, "cut to a tail": report.input.tail, "folded": report.input.folded}
    return [Row(figure=f"{of}, {name}", value=tokens.cost(prices)) for name, tokens in ways.items()]


async def _replay(messages: Sequence[TranscriptMessage], limit_tokens: int) -> ReplayReport:
    with temporary_folder() as folder, unsynced():
        async with open_at(folder / "cost.db", FakeClock(), PLAIN_SETTINGS) as engine:
            session = await engine.session(user=USER, limit=limit_tokens)
            replay = session.inspect.replay(messages)
            async for _ in replay.turns():
                pass
            return await replay.report()
