"""What replaces what, over everyday sentences: every pair and every order gets an answer, whatever each one tells."""

from datetime import UTC, datetime
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.replacement.attributes import RULES
from everfold.core.replacement.replacement import replaces
from everfold.core.replacement.supersession import list_current, list_replaced
from everfold.core.statements.reading import find_extract_lines

FACTS = (
    *(rule.example for rule in RULES),
    "I live in Rome.",
    "I work at Acme.",
    "I work as a nurse.",
    "I am vegetarian.",
    "I am called Ada.",
    "My name is Ada Moor.",
    "I am allergic to nuts.",
    "I speak Italian.",
    "I am married to Ben.",
    "I have two children.",
    "My favourite colour is green.",
    "My budget is 300 euros.",
    "I like jazz.",
    "We meet on Monday at nine.",
    "Always answer in English.",
)
"""Of each attribute of a person that is read, and of what is said besides."""
VERBS = {
    "i am": (
        "I am",
        "I'm",
        "I am no longer",
        "I am not",
        "I used to be",
        "I am now",
        "I am not only",
        "I am not really",
    ),
    "i": ("I", "I no longer", "I don't", "I used to", "I now", "I never", "I will", "I did not"),
    "my": ("My", "Our", "My old", "My new", "No longer is my", "It is not my"),
}
"""How a sentence that begins so begins otherwise: denied, in the past, as it is now."""
TURNS = ("{}", "{}, {}", "{} and {}", "{}, not {}", "Actually, {}", "{} now", "{} until May", "{} anymore", "Now {}")
"""What one or two such sentences are said in."""


@st.composite
def clauses(draw: st.DrawFn) -> str:
    """A fact without its full stop, as it is or in another wording of its first words."""
    fact = draw(st.sampled_from(FACTS)).rstrip(".!")
    for head, wordings in VERBS.items():
        if fact.lower().startswith(f"{head} "):
            return draw(st.sampled_from(wordings)) + fact[len(head) :]
    return fact


SENTENCES = st.builds(
    lambda turn, one, other: f"{turn.format(one, other)}.", st.sampled_from(TURNS), clauses(), clauses()
)
TALKS = st.lists(SENTENCES, min_size=4, max_size=8)


@given(talk=TALKS, is_saved=st.booleans(), is_near=st.booleans())
def test_every_pair_is_decided(*, talk: list[str], is_saved: bool, is_near: bool) -> None:
    """Whether one statement replaces another has an answer, of whichever attributes both speak."""
    for newer, older in permutations(talk, 2):
        assert replaces(newer, older, is_saved=is_saved, is_near=is_near) in (True, False)


@given(talk=TALKS)
def test_every_talk_is_walked(talk: list[str]) -> None:
    """The walk over all that a person said leaves some of its lines, and never raises."""
    said_at = datetime(2031, 3, 3, tzinfo=UTC)
    lines = [
        line
        for seq, text in enumerate(talk, 1)
        for line in find_extract_lines(text, seq=seq, origin="user", is_result=False, said_at=said_at)
    ]
    assert set(list_current(lines)) <= set(lines)
    for newer in lines:
        assert set(list_replaced(newer, lines)) <= set(lines)
