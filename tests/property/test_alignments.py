"""What holds for the alignment of any two lists of messages."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.conversations.alignment import align
from everfold.core.conversations.choosing import choose
from everfold.core.conversations.hashes import GivenMessage
from everfold.core.log.client_lists import ClientMessage

LETTERS = "abc"
"""Few, so that the same words come again and again."""


@st.composite
def blocks(draw: st.DrawFn) -> list[GivenMessage]:
    """What a user says with its reply, or a step with its results."""
    text = draw(st.sampled_from(LETTERS)).encode()
    count = draw(st.integers(0, 2))
    if not count:
        return [GivenMessage(content=text), GivenMessage(content=text.upper(), is_reply=True)]
    ids = tuple(f"{number}" for number in range(count))
    results = [GivenMessage(content=text + id_.encode(), answers=(id_,)) for id_ in ids]
    return [GivenMessage(content=text + b"(", is_reply=True, calls=ids), *results]


LISTS = st.lists(blocks(), min_size=1, max_size=8).map(lambda found: [one for block in found for one in block])


def hold(messages: list[GivenMessage]) -> list[ClientMessage]:
    """The same list as a client is known to hold it."""
    return [
        ClientMessage(content=one.content, kind=one.kind, seq=seq, is_reply=one.is_reply)
        for seq, one in enumerate(messages, 1)
    ]


@given(LISTS, LISTS)
def test_what_is_new_behind_a_known_list_goes_on(before: list[GivenMessage], new: list[GivenMessage]) -> None:
    """Whatever comes behind the whole known list is new, all of it, and nothing else is."""
    choice = choose([*before, *new], [hold(before)])
    assert choice.kind == "continue"
    assert choice.alignment.new == tuple(range(len(before), len(before) + len(new)))


@given(LISTS)
def test_the_same_list_again_is_a_retry(messages: list[GivenMessage]) -> None:
    """Nothing of it is new."""
    choice = choose(messages, [hold(messages)])
    assert (choice.kind, choice.alignment.new) == ("retry", ())


@given(LISTS, st.integers(0, 30))
def test_a_list_cut_at_its_beginning_goes_on(messages: list[GivenMessage], cut: int) -> None:
    """At least three messages of the end are enough to go on in the same session; none of them is said again."""
    tail = messages[cut:]
    alignment = align(tail, hold(messages))
    if len(tail) >= 3:
        assert alignment is not None
        if alignment.kind != "branch":
            assert alignment.new == ()


@given(LISTS, LISTS)
def test_places_rise_and_agree_and_no_step_is_split(asked: list[GivenMessage], before: list[GivenMessage]) -> None:
    """What is matched is equal at both places, in the same order; a branch shares whole steps only."""
    held = hold(before)
    alignment = align(asked, held)
    if alignment is None:
        return
    matched = [(at, place) for at, place in enumerate(alignment.places) if place is not None]
    assert [place for _, place in matched] == sorted({place for _, place in matched})
    assert all(held[place].content == asked[at].content for at, place in matched)
    if alignment.kind == "branch":
        at = alignment.branch_at
        assert 0 < at <= len(held)
        assert at == len(held) or held[at].kind != "result"
        assert held[at - 1].kind != "call"
        assert all(place < at for _, place in matched)
    assert not set(alignment.injected) & set(alignment.new)


@given(LISTS, st.data())
def test_an_erased_message_is_not_said_again(messages: list[GivenMessage], data: st.DataObject) -> None:
    """A client that still holds an erased message goes on in the same session."""
    held = hold(messages)
    gone = data.draw(st.integers(0, len(held) - 1))
    one = held[gone]
    held[gone] = ClientMessage(content=None, kind=one.kind, seq=one.seq, is_reply=one.is_reply)
    alignment = align(messages, held)
    assert alignment is not None
    assert (alignment.kind, alignment.new) == ("retry", ())
