"""A trace says of every message what the certificates and the window say."""

from collections import Counter

from bench.material.demo import demo_log
from bench.material.logs import coding_log

from everfold import Everfold, Session
from everfold.core.windows.entries import MessageEntry, RangeEntry
from everfold.services.inspection.trace import Trace

FATES = {
    "fixed": {"fixed"},
    "head": {"head"},
    "kept": {"kept", "running"},
    "folded": {"digest", "rollup", "quote"},
}


async def trace_demo(engine: Everfold) -> tuple[Session, Trace]:
    """The demo's beginning in a small session, with system messages at both ends."""
    session = await engine.session(limit=6000)
    await session.append({"role": "system", "content": "You help a potter."})
    for entry in demo_log().entries[:200]:
        await session.append(entry.wire, said_at=entry.said_at)
        await session.window()
    return session, await session.inspect.trace()


async def test_fates_are_the_groups_of_the_certificate(engine: Everfold) -> None:
    """In the strip after a compaction, each message of its range has the fate of its certified group."""
    session, trace = await trace_demo(engine)
    assert len(trace.compactions) == (await session.inspect.state()).compactions_count > 3
    for traced in trace.compactions:
        certificate = traced.compaction.certificate
        assert certificate
        fates = traced.after.fates
        for covered in certificate.covered:
            assert fates[covered.seq - 1] in FATES[covered.group]
        for one in certificate.folded_later:
            assert fates[one.seq - 1] in {"folded_later", "quote"}


async def test_strips_follow_each_other(engine: Everfold) -> None:
    """What one compaction left is what the next one found; only the tail has grown meanwhile."""
    _, trace = await trace_demo(engine)
    for before, after in zip(trace.compactions, trace.compactions[1:], strict=False):
        left = [fate if fate != "folded_later" else "rollup" for fate in before.after.fates]
        found = after.before.fates
        assert found[: len(left)] == left
        assert set(found[len(left) :]) <= {"tail"}
        assert len(after.before.fates) == len(after.after.fates)


async def test_the_last_strip_is_the_window(engine: Everfold) -> None:
    """The messages that the strip of now calls shown are exactly those of the window."""
    session, trace = await trace_demo(engine)
    window = await session.window()
    shown = {entry.message.seq for entry in window.entries if isinstance(entry, MessageEntry)}
    shown |= {message.seq for entry in window.entries if isinstance(entry, RangeEntry) for message in entry.kept}
    named = {"fixed", "head", "kept", "running", "tail"}
    assert {seq for seq, fate in enumerate(trace.now.fates, 1) if fate in named} == shown


async def test_every_digest_that_was_shown_is_there(engine: Everfold) -> None:
    """Each range of each event has its digest in the trace, also when it has left the window since."""
    _, trace = await trace_demo(engine)
    ids = {shown.digest_id for traced in trace.compactions for shown in traced.ranges if shown.digest_id}
    assert ids == set(trace.digests)
    assert Counter(digest.kind for digest in trace.digests.values()).keys() == {"digest", "rollup"}


async def test_tail_and_open_step_are_told_apart(engine: Everfold) -> None:
    """Messages after the last finished block wait for their results, and the strip says so."""
    session = await engine.session()
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    await session.append([{"role": "user", "content": "Look."}, {"role": "assistant", "tool_calls": [call]}])
    trace = await session.inspect.trace()
    assert trace.now.runs == (("tail", 1), ("open", 1))
    assert trace.compactions == ()


async def test_an_erased_message_has_a_number_and_no_text(engine: Everfold) -> None:
    """A trace after an erase holds every message but that one, and its place in the strip stays."""
    session = await engine.session(limit=8000)
    for entry in list(coding_log(3, turns_count=2))[:20]:
        await session.append(entry.wire)
    await session.erase(7)
    trace = await session.inspect.trace()
    assert sorted(trace.messages) == [seq for seq in range(1, 21) if seq != 7]
    assert len(trace.now.fates) == 20
