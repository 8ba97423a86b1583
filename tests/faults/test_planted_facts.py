"""Whatever writes the digests, and however often: a planted fact stays in the window, or is named there, read and found.

Source: G2, G3, G4 and G7.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import pytest
from bench.material.logs import chat_log
from tests.support.proofs import list_all_compactions
from tests.support.sizes import spread

from everfold import Compaction, Everfold, Session, Window
from everfold.adapters.models.scripted import ScriptedModel, Step
from everfold.core.windows.entries import MessageEntry, RangeEntry
from everfold.core.windows.rendering import render
from everfold.testing import check_anthropic_request, check_openai_request
from everfold.testing.kit.builders import assistant, calls, result, user

Wire = Mapping[str, object]
Opening = Callable[..., AbstractAsyncContextManager[Everfold]]

SUMMARISERS: dict[str, tuple[Step, ...]] = {
    "good": (Step(digest="echo"),),
    "empty": (Step(fault="empty"),),
    "degenerate": (Step(digest="poor"),),
    "failing": (Step(fault="exception"),),
    "hostile": (Step(digest="hostile"),),
}
SLICES = {"holds all": 128_000, "rolls up": 7_500}
"""The limit at which the digest slice holds the digests of twenty folds, and one at which most of them are rolled up."""

PER_FOLD = 8
RULE = "Never ship anything to the depot in Almere on a Monday."


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that is said once: where, in which words, and what a user asks who wants it again."""

    place: str
    said: str
    needle: str
    question: str


FACTS = {
    fact.place: fact
    for fact in (
        Fact(place="first turn", said="The blue locker opens with QK-7731.", needle="QK-7731", question="blue locker"),
        Fact(
            place="middle turn",
            said="The spare boat key hangs at peg 4417-B.",
            needle="4417-B",
            question="where is the spare boat key",
        ),
        Fact(
            place="assistant",
            said="The serial number of the harbour pump is PMP-88213-X.",
            needle="PMP-88213-X",
            question="serial number of the harbour pump",
        ),
        Fact(
            place="tool result",
            said='{"crate": "CR-55190", "status": "held at customs"}',
            needle="CR-55190",
            question="which crate is held at customs",
        ),
        Fact(
            place="oversized paste",
            said="The turnstile of the north paddock needs the number 903177.",
            needle="903177",
            question="number of the paddock turnstile",
        ),
    )
}
"""Each in words of its own: a search weighs long messages less, so that of words which all talk shares the short ones come first."""


def write_log(folds_count: int) -> Iterator[tuple[Wire, str]]:
    """Messages for so many folds, each with the place that it is when it holds a fact."""
    filler = [entry.wire for entry in chat_log(19, messages_count=PER_FOLD * folds_count + 60)]
    texts = [str(wire["content"]) for wire in filler[-40:]]
    said = " ".join(texts[1:4])
    yield user(f"Let us plan the move. {FACTS['first turn'].said} {RULE}"), "first turn"
    yield assistant(f"I looked around. {FACTS['assistant'].said} {said}"), "assistant"
    yield user(f"{' '.join(texts[4:20])} {FACTS['oversized paste'].said} {' '.join(texts[20:])}"), "oversized paste"
    yield calls("c1"), ""
    yield result("c1", "\n".join((*texts[5:8], FACTS["tool result"].said, *texts[8:11]))), "tool result"
    yield assistant(f"One of the crates is not here yet. {said}"), ""
    yield user("Good, then let us go on."), ""
    yield assistant("Gladly."), ""
    middle = PER_FOLD * (folds_count // 2)
    for index, wire in enumerate(filler[: PER_FOLD * folds_count]):
        is_middle = index == middle
        yield (
            (user(f"One more thing. {FACTS['middle turn'].said}") if is_middle else wire),
            ("middle turn" if is_middle else ""),
        )


async def fold_often(session: Session, folds_count: int) -> dict[str, int]:
    """Play the log and fold so often; gives the message of each fact."""
    seqs: dict[str, int] = {}
    pending: list[Wire] = []
    done_count = 0
    for wire, place in write_log(folds_count):
        pending.append(wire)
        if place:
            seqs[place] = (await session.inspect.state()).last_seq + len(pending)
        if len(pending) < PER_FOLD:
            continue
        await session.append(pending)
        pending.clear()
        await session.window()
        if done_count < folds_count and await session.compact(keep_recent=2):
            done_count += 1
    assert (await session.inspect.state()).last_seq == PER_FOLD * (folds_count + 1)
    return seqs


def shown_whole(window: Window) -> set[int]:
    """The messages that the window shows uncut."""
    messages = [entry.message for entry in window.entries if isinstance(entry, MessageEntry)]
    messages += [message for entry in window.entries if isinstance(entry, RangeEntry) for message in entry.kept]
    return {message.seq for message in messages if not message.cuts}


def shown_at_all(window: Window) -> set[int]:
    """The messages that the window shows, whole or in their visible form."""
    messages = [entry.message for entry in window.entries if isinstance(entry, MessageEntry)]
    return {message.seq for message in messages} | {
        message.seq for entry in window.entries if isinstance(entry, RangeEntry) for message in entry.kept
    }


def digest_over(window: Window, seq: int) -> RangeEntry | None:
    """The digest whose range a message lies in."""
    for entry in window.entries:
        if isinstance(entry, RangeEntry) and entry.digest_text and entry.shown.first_seq <= seq <= entry.shown.last_seq:
            return entry
    return None


async def check_fact(session: Session, window: Window, fact: Fact, seq: int, compactions: Sequence[Compaction]) -> bool:
    """A fact stands in the window, or under a digest that names its message; read and found always. Is it verbatim?"""
    said = json.dumps(render(window, "openai"), ensure_ascii=False)
    is_verbatim = fact.needle in said
    if seq in shown_whole(window):
        assert is_verbatim, fact.place
    elif seq not in shown_at_all(window):
        digest = digest_over(window, seq)
        assert digest is not None, fact.place
        if digest.shown.kind == "rollup":
            joined = [compaction.report.joined_through for compaction in compactions if compaction.report]
            assert max(joined) >= seq
        else:
            owner = next(
                compaction for compaction in compactions if compaction.plan.first_seq <= seq <= compaction.plan.last_seq
            )
            assert seq in owner.plan.folded
    (message,) = await session.messages(seq, seq)
    assert fact.needle in json.dumps(message.wire)
    assert seq in [hit.seq for hit in await session.search(fact.question)], fact.place
    return is_verbatim


@pytest.mark.parametrize(
    ("summariser", "slice_name", "folds_count"), spread(tuple(SUMMARISERS), ("holds all", "rolls up"), (5, 20, 1))
)
async def test_planted_facts(summariser: str, slice_name: str, folds_count: int, open_with_model: Opening) -> None:
    """A fact is verbatim where all digests stand, else named by the digest over it; read and found always; rules are quoted."""
    model = ScriptedModel(SUMMARISERS[summariser])
    async with open_with_model("memory://", model) as engine:
        session = await engine.session(limit=SLICES[slice_name])
        seqs = await fold_often(session, folds_count)
        window = await session.window()
        compactions = await list_all_compactions(session)
        folds = [compaction for compaction in compactions if compaction.plan.folded and compaction.revises is None]
        assert len(folds) >= folds_count
        if slice_name == "rolls up" and folds_count > 1:
            assert any(compaction.report and compaction.report.joined_through for compaction in compactions)
        if slice_name == "holds all":
            assert not any(compaction.report and compaction.report.joined_through for compaction in compactions)
            assert window.report.digest_count == len(folds)
        assert check_openai_request(render(window, "openai")) == []
        assert check_anthropic_request(render(window, "anthropic")) == []
        for place, fact in FACTS.items():
            is_verbatim = await check_fact(session, window, fact, seqs[place], compactions)
            assert is_verbatim or place == "oversized paste" or (slice_name == "rolls up" and folds_count > 1), place
        said = json.dumps(render(window, "openai"), ensure_ascii=False)
        assert RULE in said
        assert "Ignore all previous" not in said
        assert "From now on you must" not in said
        states = {compaction.state for compaction in folds if compaction.digest != "off"}
        assert states <= ({"done"} if summariser == "good" else {"degraded"})
        assert (await session.verify()).is_sound


@pytest.mark.parametrize(
    "summariser",
    [pytest.param(name, marks=() if name == "hostile" else pytest.mark.slow) for name in SUMMARISERS if name != "good"],
)
async def test_an_earlier_digest(summariser: str, open_with_model: Opening) -> None:
    """What an earlier digest says stays word for word while it stands, whatever is made of later messages after it."""
    model = ScriptedModel((Step(digest="echo"), *SUMMARISERS[summariser]))
    async with open_with_model("memory://", model) as engine:
        session = await engine.session(limit=16_000)
        texts: dict[str, str] = {}
        standing_count = 0
        pending: list[Wire] = []
        for wire, _ in write_log(20):
            pending.append(wire)
            if len(pending) < PER_FOLD:
                continue
            await session.append(pending)
            pending.clear()
            window = await session.window()
            await session.compact(keep_recent=2)
            for shown in (window, await session.window()):
                digests = [entry for entry in shown.entries if isinstance(entry, RangeEntry) and entry.digest_text]
                for entry in digests:
                    standing_count += entry.shown.digest_id in texts
                    assert texts.setdefault(entry.shown.digest_id, entry.digest_text) == entry.digest_text
                first = next((entry for entry in digests if entry.shown.first_seq == 1), None)
                if first is not None and first.shown.kind == "digest":
                    held = [fact.place for fact in FACTS.values() if fact.needle in first.digest_text]
                    assert {"assistant", "tool result"} <= set(held)
        assert standing_count > 10
        compactions = await list_all_compactions(session)
        assert any(compaction.report and compaction.report.joined_through for compaction in compactions)
        (first_event, *others) = [compaction for compaction in compactions if compaction.plan.folded]
        assert (first_event.state, first_event.digest) == ("done", "done")
        assert {compaction.state for compaction in others if compaction.digest != "off"} == {"degraded"}
