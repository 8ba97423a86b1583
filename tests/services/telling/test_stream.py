"""The stream: each event to every listener that hears its kind, once, and nothing made that none of them wants."""

import pytest

from everfold.core.observation.events import CHANGES, Event, MessagesAppended, Recovered, SessionSwitched, WorkFailed
from everfold.core.primitives.ids import SessionId
from everfold.errors import EverfoldError, RateLimitedError
from everfold.services.telling.stream import Stream, tell_failed_work
from everfold.services.telling.tell_changes import tell_appended

SESSION = SessionId("ses_1")
SWEPT = Recovered(found_count=1, sessions_count=1)
APPENDED = MessagesAppended(session_id=SESSION, first_seq=2, last_seq=3, messages_count=2)


class Taking:
    """A listener that keeps what it is given, of some kinds."""

    def __init__(self, *kinds: type[Event]) -> None:
        self.kinds = kinds
        self.taken: list[Event] = []

    def hears(self, kind: type[Event]) -> bool:
        """The kinds that the test gave it."""
        return kind in self.kinds

    def take(self, event: Event) -> None:
        """Keep it."""
        self.taken.append(event)


async def test_every_listener_gets_the_kinds_that_it_hears() -> None:
    """Each listener and each subscription is given the same value once, and nothing that it does not hear."""
    one, other, none = Taking(Recovered), Taking(Recovered, MessagesAppended), Taking()
    stream = Stream([one, other, none])
    events = stream.feed.subscribe()
    stream.publish(SWEPT)
    stream.publish(APPENDED)
    stream.feed.close()
    assert (one.taken, other.taken, none.taken) == ([SWEPT], [SWEPT, APPENDED], [])
    assert [it async for it in events] == [SWEPT]


def test_a_stream_hears_what_some_listener_hears() -> None:
    """A kind is heard where one listener or one subscription wants it."""
    stream = Stream([Taking(Recovered)])
    assert (stream.hears(Recovered), stream.hears(SessionSwitched), stream.hears(MessagesAppended)) == (
        True,
        False,
        False,
    )
    follower = stream.feed.subscribe(changes=True)
    assert all(stream.hears(kind) for kind in (SessionSwitched, *CHANGES))
    assert follower.take_waiting() is None


def test_an_append_is_told_with_its_range() -> None:
    """So many messages at the end of a log are one event with their range, and none is told of no messages."""
    listener = Taking(MessagesAppended)
    tell_appended(Stream([listener]), SESSION, last_seq=3, count=2)
    tell_appended(Stream([listener]), SESSION, last_seq=3, count=0)
    assert listener.taken == [APPENDED]


@pytest.mark.parametrize(
    ("error", "reason"), [(RateLimitedError("too often"), "rate_limited"), (KeyError("the door code"), "KeyError")]
)
def test_failed_work_is_published(error: Exception, reason: str) -> None:
    """Work that failed beside the turns is an event with the code of our error or the class of another one."""
    listener = Taking(WorkFailed)
    tell_failed_work(Stream([listener]), "evt_1", error)
    assert listener.taken == [WorkFailed(name="evt_1", reason=reason)]
    assert not isinstance(error, EverfoldError) or error.code == reason
    assert "door" not in repr(listener.taken)
