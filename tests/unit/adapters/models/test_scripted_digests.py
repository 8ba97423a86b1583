"""Scripted digests: the good kind passes every check of a digest, each bad kind fails the one that it is made for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from bench.material.demo import demo_log
from bench.material.logs import chat_log, coding_log, endless_log
from tests.support.sizes import matrix

from everfold.adapters.models.scripted_digests import DigestKind, write_scripted_digest
from everfold.core.digests.requests import DigestRequest, FoldedMessage, plan_digest_requests
from everfold.core.digests.verification import Fault, verify_stepwise
from everfold.core.primitives.origins import choose_origin
from everfold.core.primitives.stepwise import finish
from everfold.core.text.tokens import estimate_text_tokens
from everfold.ports.models import ModelRequest

STARTED_AT = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)


def folded(wires: Sequence[Mapping[str, object]]) -> list[FoldedMessage]:
    """Messages as a summariser reads them."""
    found: list[FoldedMessage] = []
    for seq, wire in enumerate(wires, 1):
        role = str(wire["role"])
        text = f"{wire.get('content') or ''}" + (f"\n[calls {wire['tool_calls']}]" if "tool_calls" in wire else "")
        found.append(
            FoldedMessage(
                seq=seq,
                origin=choose_origin(role, None),
                role=role,
                speaker=None,
                said_at=STARTED_AT + timedelta(minutes=seq),
                text=text or "[empty message]",
                is_tool=role == "tool" or "tool_calls" in wire,
                ends_block=True,
                tokens=estimate_text_tokens(text),
            )
        )
    return found


def requests_of(wires: Sequence[Mapping[str, object]]) -> list[DigestRequest]:
    """The requests for digests of stretches of a log, with the room that such digests have."""
    messages = folded(wires)
    found: list[DigestRequest] = []
    for first in range(0, len(messages), 30):
        stretch = messages[first : first + 30]
        budget = min(sum(message.tokens for message in stretch) // 6, 600)
        found += plan_digest_requests(stretch, key="ses_1", input_cap_tokens=12_000, output_tokens=budget)
    return found


LOGS = {
    "chat": [entry.wire for entry in chat_log(3, messages_count=90)],
    "coding": [entry.wire for entry in coding_log(3, turns_count=3)],
    "endless": [entry.wire for entry in endless_log(3, messages_count=90)],
    "demo": demo_log().messages[:90],
}


def verify(kind: DigestKind, request: DigestRequest) -> tuple[Fault, ...]:
    """What is wrong with such a digest."""
    asked = ModelRequest(
        purpose="digest",
        instructions=request.instructions,
        prompt=request.prompt,
        max_output_tokens=request.max_output_tokens,
    )
    return finish(
        verify_stepwise(
            write_scripted_digest(kind, asked),
            "complete",
            input_text=request.input_text,
            source_tokens=request.source_tokens,
            cap_tokens=request.cap_tokens,
            first_seq=request.first_seq,
            last_seq=request.last_seq,
            estimate=estimate_text_tokens,
        )
    )


@pytest.mark.parametrize("name", LOGS)
def test_an_echo_passes(name: str) -> None:
    """Nine of ten echo digests, of talk and of tools, hold all that is asked of a digest; none lacks more than one thing."""
    found = [verify("echo", request) for request in requests_of(LOGS[name])]
    assert len(found) > 1
    assert sum(not faults for faults in found) >= 0.9 * len(found), [faults for faults in found if faults]


FAULT_BY_KIND: dict[DigestKind, str] = {
    "poor": "lost_identifiers",
    "larger": "too_long",
    "repeat": "repeats",
    "foreign": "language",
    "invent": "invented",
    "hostile": "hostile",
}


@pytest.mark.parametrize(("name", "kind"), matrix(list(LOGS), list(FAULT_BY_KIND)))
def test_a_bad_digest_fails(name: str, kind: DigestKind) -> None:
    """Every bad digest of every log is refused, with the fault that it is made for."""
    for request in requests_of(LOGS[name]):
        assert FAULT_BY_KIND[kind] in {fault.kind for fault in verify(kind, request)}, request.first_seq


def test_a_digest_is_a_function_of_its_request() -> None:
    """The same request gives the same text; another gives another."""
    first, second = requests_of(LOGS["chat"])[:2]
    asked = [
        ModelRequest(purpose="digest", instructions="", prompt=one.prompt, max_output_tokens=300)
        for one in (first, first, second)
    ]
    texts = [write_scripted_digest("echo", one) for one in asked]
    assert texts[0] == texts[1] != texts[2]
    smaller = write_scripted_digest("echo", replace(asked[0], max_output_tokens=180))
    assert estimate_text_tokens(smaller) <= 120 < estimate_text_tokens(texts[0])


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "\n \n",
        "word",
        "Berth 7 is free. The gate is open on all days of the week.",
        "#0 [user, 2031-02-31 10:00 Mon]\n",
    ],
)
@pytest.mark.parametrize("kind", ["echo", *FAULT_BY_KIND])
def test_a_prompt_without_a_record(prompt: str, kind: DigestKind) -> None:
    """Any prompt gets an answer, which quotes what there is to quote."""
    asked = ModelRequest(purpose="digest", instructions="", prompt=prompt, max_output_tokens=100)
    text = write_scripted_digest(kind, asked)
    assert kind != "echo" or "gate" not in prompt or "- The gate is open" in text
