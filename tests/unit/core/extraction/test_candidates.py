"""What messages give to memory."""

from itertools import product

import pytest

from everfold.core.extraction.candidates import EXPLICIT_CHARS, find_candidates
from everfold.core.log.appending import plan_append
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.memory.items import Candidate
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.json_values import JsonObject
from everfold.core.primitives.origins import Origin, Source
from everfold.core.recall.snapshots import TITLE
from everfold.core.text.frames import DELTA_TITLE, RECALL_TITLE
from everfold.testing.kit.builders import assistant, budget_of, incoming, user

SESSION = SessionId("ses_1")


def _message(wire: JsonObject, *, origin: Origin | None = None, source: Source = "said") -> Message:
    state = SessionState()
    given = incoming(wire, origin=origin, source=source)
    return (
        plan_append(state, [given], budget_of(SessionSettings(), state), step={}, session=SESSION).appended[0].message
    )


def _find(wire: JsonObject, **asked: str) -> tuple[Candidate, ...]:
    return find_candidates(_message(wire, **asked), session_id=SESSION)  # type: ignore[arg-type]  # literals


def test_user_tells_of_himself() -> None:
    """What a user says of himself is of the user tier, quoted where it stands, since the moment it was said."""
    message = _message(user("Hi there! I am allergic to peanuts. What is for lunch?"))
    (found,) = find_candidates(message, session_id=SESSION)
    (quoted,) = found.evidence
    assert (found.tier, found.origin, found.statement) == ("user", "user", "I am allergic to peanuts.")
    assert message.view.text[quoted.start :].startswith(quoted.quote)
    assert (quoted.session_id, quoted.content_hash, found.valid_from) == (
        SESSION,
        message.content_hash,
        message.said_at,
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never call me before nine.", "preference"),
        ("We decided to go with the blue paint for the boat.", "decision"),
        ("Remember that my badge number is K-17.", "fact"),
    ],
)
def test_kinds_of_the_person(text: str, kind: str) -> None:
    """What the user wants, settles and asks to remember is of the user tier and of its kind."""
    (found,) = _find(user(text))
    assert (found.kind, found.tier) == (kind, "user")


def test_assistant_promises_are_the_agents() -> None:
    """What the assistant takes on is a task of the agent's, of the assistant's authority."""
    found = _find(assistant("I will send you the signed contract tomorrow."))
    assert [(one.kind, one.tier, one.origin) for one in found] == [("task", "agent", "assistant")]


@pytest.mark.parametrize(
    ("source", "origin"),
    [("refresh", "external"), *product(("tick", "injection"), ("user", "external", "system"))],
)
def test_only_what_was_said_is_found(source: Source, origin: Origin) -> None:
    """What a program put into the log gives nothing, whatever origin it can have."""
    message = _message(user("Remember that my badge number is K-17."), origin=origin, source=source)
    assert find_candidates(message, session_id=SESSION) == ()


@pytest.mark.parametrize("origin", ["external", "system"])
def test_others_in_the_users_role_are_not_found(origin: Origin) -> None:
    """Words in a user's role that are not of the user give nothing."""
    message = _message(user("Remember that my badge number is K-17."), origin=origin)
    assert find_candidates(message, session_id=SESSION) == ()


def test_words_to_remember_are_exact() -> None:
    """What is to be remembered is the sentence as it is, also where it is longer than a quote, or a list after a colon."""
    long = "Remember that my boats are " + ", ".join(f"number {one} in berth {one}" for one in range(12)) + "."
    (found,) = _find(user(f"Hello. {long} Thanks!"))
    assert (found.statement, found.is_explicit) == (long, True)
    listed = "Please remember the following:\n- the gate code is new\n- the dog is called Rex"
    assert listed in {one.statement for one in _find(user(f"{listed}\n\nOn to something else."))}


def test_what_is_to_be_remembered_is_bounded() -> None:
    """A sentence without an end is not remembered whole."""
    for found in _find(user("Remember that " + "berths and boats and " * 900)):
        assert len(found.statement) <= EXPLICIT_CHARS * 2


def test_documents_are_not_said() -> None:
    """Text of a document that rides on a message is no one's statement."""
    part: JsonObject = {"type": "text", "text": "Never call me before nine."}
    document: JsonObject = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "Remember that my badge number is K-17."},
    }
    message = _message({"role": "user", "content": [part, document]})
    assert [one.statement for one in find_candidates(message, session_id=SESSION)] == ["Never call me before nine."]


def test_answer_is_held_against_its_question() -> None:
    """A short answer tells a fact with the question that asked for it, and nothing without."""
    message, question = _message(user("Peanuts and shellfish")), _message(assistant("What are you allergic to?"))
    assert find_candidates(message, session_id=SESSION) == ()
    assert find_candidates(message, session_id=SESSION, before=question.view.text) == ()
    (found,) = find_candidates(message, session_id=SESSION, before=question.view.text, asked=question)
    assert (found.kind, found.shelf) == ("fact", "block")


@pytest.mark.parametrize(
    "frame",
    [
        "[AUTONOMOUS TICK]\n",
        "[SCHEDULED TICK]\n",
        "=== digest of messages 1 to 40 ===\n",
        f"{DELTA_TITLE}\n- ",
        f"{TITLE}\n- ",
        f"{RECALL_TITLE} ===\n",
    ],
)
def test_echoes_and_ticks_give_nothing(frame: str) -> None:
    """What a program put into a log as the user's message, and shows it only by how it begins, gives no candidate."""
    told = "I am allergic to peanuts."
    assert _find(user(told))
    assert _find(user(f"{frame}{told}")) == ()
