"""Before a fold plug-ins are shown exactly what it folds."""

import pytest

from everfold import Everfold, Hooks, PendingFold
from everfold.core.observation.hooks import NO_HINTS
from everfold.errors import HookError
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_plugins import prepare_fold
from everfold.testing.kit.builders import talk
from everfold.testing.kit.hearing import Hearing


async def test_exactly_the_folded_messages_in_their_order(engine: Everfold) -> None:
    """For every event of a session the hook gets the messages that its plan folds, whole and oldest first, and no others."""
    session = await engine.session(limit=4000)
    for wire in talk(60):
        await session.append(wire)
        await session.window()
    events = await session.inspect.compactions()
    plugin = Hearing()
    for event in events:
        hints = await prepare_fold(Stream(hooks=[plugin]), session._store, session.record, event)
        assert hints.text == "[Hearing] hint of Hearing"
    assert len(events) > 3
    for event, (_, told) in zip(events, plugin.heard, strict=True):
        assert isinstance(told, PendingFold)
        assert (told.compaction_id, told.trigger, told.session.id) == (event.id, event.plan.trigger, session.id)
        assert tuple(message.seq for message in told.messages) == event.plan.folded
        stored = await session.messages(event.plan.first_seq, event.plan.last_seq)
        assert list(told.messages) == [message for message in stored if message.seq in event.plan.folded]


async def test_what_was_erased_is_not_shown(engine: Everfold) -> None:
    """A message that was erased after the plan was made reaches no plug-in."""
    session = await engine.session(limit=4000)
    await session.append(talk(10))
    await session.compact(keep_recent=2)
    (event,) = await session.inspect.compactions()
    erased = event.plan.folded[1]
    await session.erase(erased)
    plugin = Hearing()
    await prepare_fold(Stream(hooks=[plugin]), session._store, session.record, event)
    told = plugin.heard[0][1]
    assert isinstance(told, PendingFold)
    assert tuple(message.seq for message in told.messages) == tuple(seq for seq in event.plan.folded if seq != erased)


async def test_strict_refuses_without_a_plugin_and_off_is_silent(engine: Everfold) -> None:
    """Strict without a plug-in refuses the fold; without strict and plug-in there is nothing to ask."""
    session = await engine.session(limit=4000)
    await session.append(talk(10))
    await session.compact(keep_recent=2)
    (event,) = await session.inspect.compactions()
    assert await prepare_fold(Stream(hooks=[Hooks()]), session._store, session.record, event) is NO_HINTS
    with pytest.raises(HookError):
        await prepare_fold(Stream(strict=True), session._store, session.record, event)
