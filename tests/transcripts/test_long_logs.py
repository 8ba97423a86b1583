"""Long logs hold every guarantee, also those that are full of what real clients leave behind: 5,000 messages at night."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest
from bench.material.logs import LogEntry, endless_log
from tests.support.proofs import Prover
from tests.support.sizes import some

import everfold

MESSAGES_COUNT = some(5_000, 300)
LIMIT_TOKENS = 8_000
THOROUGH_EVERY = 150
"""So many requests lie between two whole proofs, each of which reads the log from its beginning."""
ODD_TEXTS = (
    "",
    " \n\t",
    "🦜🧺 at eight? 👨‍👩‍👧 🇵🇹!",
    "🪁" * 60,
    "来週の月曜日に港で会いましょう。荷物は三つです。",
    "请把合同寄到里斯本的办公室。不要寄到家里。" * 8,
    "내일 아침 회의는 취소됐습니다.",
    "שלום, נפגש ביום חמישי",
    "e\u0301\u200d\u202eabc\x00",
    "half a pair \ud83e and no more",
    "\udc00\ud800",
    "Remember: the 猫 sleeps \udfff in the shed.",
    "[[keep]] 🔑 4711",
)


def mixed_log(seed: int, *, messages_count: int) -> Iterator[dict[str, object]]:
    """An endless conversation in which a quarter of all texts are odd, and odd messages stand between the turns."""
    rng = Random(seed)
    left_count = messages_count
    for entry in endless_log(seed, messages_count=messages_count):
        wires = [entry.wire]
        if entry.label in ("talk", "standing") and rng.random() < 0.4:
            wires.insert(0, {"role": rng.choice(("user", "assistant", "system")), "content": rng.choice(ODD_TEXTS)})
        if entry.label != "call" and rng.random() < 0.25:
            entry.wire["content"] = rng.choice(ODD_TEXTS)
        yield from wires[:left_count]
        left_count -= len(wires)
        if left_count <= 0:
            return


def list_turns(wires: Iterable[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """What a client appends between two requests: an answer or calls, with all that came before the next one."""
    batch: list[dict[str, object]] = []
    for wire in wires:
        if wire["role"] == "assistant" and batch:
            yield batch
            batch = []
        batch.append(wire)
    yield batch


def plain(entries: Iterable[LogEntry]) -> Iterator[dict[str, object]]:
    """The messages of generated entries."""
    return (entry.wire for entry in entries)


@pytest.mark.parametrize("kind", ["mixed", pytest.param("endless", marks=pytest.mark.slow)])
async def test_a_long_log(tmp_path: Path, kind: str) -> None:
    """Each of some thousand requests is within budget and extends the last; all is proven now and then and at the end."""
    wires = (
        plain(endless_log(5, messages_count=MESSAGES_COUNT))
        if kind == "endless"
        else mixed_log(6, messages_count=MESSAGES_COUNT)
    )
    async with everfold.open(f"sqlite:///{tmp_path}/log.db") as engine:
        prover = Prover(await engine.session(limit=LIMIT_TOKENS), wire_format="openai")
        for index, batch in enumerate(list_turns(wires), 1):
            await prover.append(*batch)
            await prover.window(is_thorough=index % THOROUGH_EVERY == 0)
        await prover.window()
        await prover.reopen(engine)
        await prover.check_all()
        state = await prover.session.inspect.state()
    assert (state.last_seq, len(prover.given)) == (MESSAGES_COUNT, MESSAGES_COUNT)
    assert state.compactions_count > MESSAGES_COUNT // 50
