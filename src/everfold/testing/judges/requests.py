"""Judges of a rendered request: what a provider refuses in it, and what a window must never show.

They are independent of the renderer, speak only of wire-level dicts, and name each violation with its path, so that
`assert check_openai_request(request) == []` says what is wrong when it fails.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias

from everfold.testing.judges.anthropic_rules import check_anthropic_pairing, list_anthropic_violations
from everfold.testing.judges.openai_rules import check_openai_pairing, list_openai_violations
from everfold.testing.judges.responses_rules import list_responses_violations

RequestKind: TypeAlias = Literal["openai", "anthropic"]


_UNKNOWN = re.compile(r"unknown key '([^']*)'")


def check_openai_request(request: Mapping[str, object], *, extras: Collection[str] = ()) -> list[str]:
    """List what OpenAI's chat completions endpoint would refuse in `request`; an empty list means valid.

    Looks at `messages` only: other members of the body are asked to be JSON, no more. Strict where the reference is
    silent: unknown members of messages and parts are violations, call arguments must parse as JSON. `extras` are names of
    members that the client itself has sent and its provider takes.
    """
    return _leave_out(extras, list_openai_violations(request))


def check_responses_request(request: Mapping[str, object], *, extras: Collection[str] = ()) -> list[str]:
    """List what OpenAI's Responses endpoint would refuse in `request`, of its `input`; an empty list means valid.

    `extras` are types of items that the client itself has sent and its provider takes.
    """
    return _leave_out(extras, list_responses_violations(request))


def check_anthropic_request(
    request: Mapping[str, object], *, interleaved_thinking: bool = False, extras: Collection[str] = ()
) -> list[str]:
    """List what Anthropic's messages endpoint would refuse in `request`; an empty list means valid.

    Stricter in two points: roles must alternate, and with `interleaved_thinking` off all thinking blocks of an
    assistant message come before its other blocks. `extras` as in `check_openai_request`, of blocks.
    """
    return _leave_out(extras, list_anthropic_violations(request, interleaved_thinking=interleaved_thinking))


def find_extras(messages: Iterable[Mapping[str, object]]) -> set[str]:
    """The names of members that the judges of both forms refuse in messages as a client has sent them."""
    forms = (list_openai_violations, list_anthropic_violations)
    violations = (one for message in messages for judge in forms for one in judge({"messages": [message]}))
    return {found[1] for one in violations if (found := _UNKNOWN.search(one))}


def _leave_out(extras: Collection[str], violations: Iterable[str]) -> list[str]:
    unknown = ((one, _UNKNOWN.search(one)) for one in violations)
    return [one for one, found in unknown if found is None or found[1] not in extras]


def check_window_rules(request: Mapping[str, object], *, kind: RequestKind) -> list[str]:
    """List where a window breaks G6: it starts with a user message after the system ones, calls and results pair.

    Judges the shape alone, so that it also holds for a log whose single messages a provider would refuse (a lone
    surrogate, an unknown member).

    Source: DESIGN section 1, G6.
    """
    messages = request.get("messages")
    if not isinstance(messages, list):
        return ["messages: a list is required"]
    roles = [message.get("role") if isinstance(message, Mapping) else None for message in messages]
    body_roles = [role for role in roles if role not in {"system", "developer"}]
    violations = [] if body_roles[:1] == ["user"] else [f"messages: starts with {body_roles[:1]}, not with the user"]
    if kind == "openai":
        return [*violations, *check_openai_pairing(messages)]
    if len(body_roles) < len(roles):
        violations.append("messages: system content stands among the messages")
    return [*violations, *check_anthropic_pairing(messages)]
