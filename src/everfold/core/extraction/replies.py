"""A model's reply checked against the messages: candidates, and what was refused and why.

Theory of operation. The reply's one JSON object is read, whatever text is around it. Each entry must quote one of
the messages that the model was given, and what is kept is the exact slice, with its place. Whose words the slice is
decides what the entry can be: of a person's own words anything; of the assistant's what it did, settled and promised; of
a tool's or the outside's a fact, never an order. A statement with an identifier, number or date that nothing it was
given holds is refused. A reply that cannot be read, or of which not one quote is true, is a problem as a whole.

Source: DESIGN section 4 and G9; REQUIREMENTS OF-40, U-40, U-43.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal

from everfold.core.digests.facts import HeldFacts
from everfold.core.extraction.echoes import is_echo
from everfold.core.extraction.evidence import EvidencePart, list_parts, list_silent_calls
from everfold.core.extraction.requests import MOST_CANDIDATES, STATEMENT_CHARS, ExtractionRequest
from everfold.core.log.messages import Message
from everfold.core.log.sessions import Segment, find_holder
from everfold.core.memory.items import Candidate, Evidence, Item, ItemKind, Tier
from everfold.core.memory.validity import date_relative, read_validity
from everfold.core.primitives.json_values import clean_text
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.primitives.stepwise import Steps
from everfold.core.statements.extracts import LineKind
from everfold.core.statements.reading import find_extract_lines
from everfold.core.text.quoting import Quotable
from everfold.core.threats.hostile import find_hostile
from everfold.core.threats.redaction import redact_secrets

RefusalKind = Literal["shape", "too_long", "not_said", "not_allowed", "order", "invented", "known", "too_many"]
"""Why an entry was not taken.

shape: it is no entry. too_long: its statement passes the cap, or its quote is longer than a quote. not_said: no message
says its quote. not_allowed: its speaker cannot state this. order: words from a tool or from outside that want
something. invented: its statement holds what no message holds. known: it repeats an item on lower authority. too_many:
the cap was met before it.
"""

QUOTE_CHARS: Final = 600
"""The longest quote that is kept; longer ones prove nothing more. Source: own choice, about five sentences."""
_LEAST_QUOTE_CHARS: Final = 4
_WHOLE_CHARS: Final = 40
"""A short quote proves something only where it is most of what was said: "yes", to a question."""
_MOST_OBJECTS: Final = 50
_MOST_REPLY_CHARS: Final = 200_000
_DEFAULT_CONFIDENCE: Final = 0.6

_KINDS: Final[dict[str, ItemKind]] = {
    "facts": "fact",
    "preferences": "preference",
    "decisions": "decision",
    "tasks": "task",
    "open_items": "open_item",
}
_ALLOWED: Final[dict[Origin, frozenset[ItemKind]]] = {
    "system": frozenset(_KINDS.values()),
    "user": frozenset(_KINDS.values()),
    "assistant": frozenset(("fact", "decision", "task", "open_item")),
    "tool": frozenset(("fact",)),
    "external": frozenset(("fact",)),
}
"""What may be made of whose words. Source: DESIGN section 4, "Machine-written text is never evidence for what the user
wants"; an assistant's decision is its own."""
_WANTING: Final[frozenset[LineKind]] = frozenset(
    ("remember", "constraint", "preference", "decision", "commitment", "task")
)
_SETTLED: Final[frozenset[ItemKind]] = frozenset(("decision", "task", "open_item"))
_SEQ: Final = re.compile(r"#?\s{0,3}(\d{1,15})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadExtraction:
    """What a reply came to.

    Attributes:
        candidates: In the order of the five lists.
        refused: How many entries were refused for which reason.
        problem: What is wrong with the reply as a whole, in words for the model; empty where it can be used.
    """

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[tuple[RefusalKind, int], ...] = ()
    problem: str = ""

    @property
    def refused_count(self) -> int:
        """How many entries were not taken."""
        return sum(count for _, count in self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSource:
    """What a reply is held against.

    Attributes:
        request: What the model was asked.
        messages: The messages that it carries, by number.
        parts: The parts of each of them that are evidence.
        lineage: Where the messages are stored.
        held: What the request's record and the known items write.
    """

    request: ExtractionRequest
    messages: Mapping[int, Message]
    parts: Mapping[int, tuple[tuple[EvidencePart, Quotable], ...]]
    lineage: tuple[Segment, ...]
    held: HeldFacts


class _RefusedError(Exception):
    """An entry cannot be taken; never leaves this module."""

    def __init__(self, kind: RefusalKind) -> None:
        super().__init__(kind)
        self.kind: RefusalKind = kind


def gather_source(
    request: ExtractionRequest,
    messages: Sequence[Message],
    *,
    lineage: tuple[Segment, ...],
    memory_tools: Collection[str] = (),
) -> ExtractionSource:
    """The source of a request's answers; made once, O(its record).

    Args:
        request: One of those that were planned.
        messages: What they were planned of.
        lineage: Where the messages are stored.
        memory_tools: As for the plan.
    """
    silent = list_silent_calls(messages, memory_tools) if memory_tools else frozenset()
    seqs = frozenset(request.read_seqs)
    read = {message.seq: message for message in messages if message.seq in seqs}
    others = [known.item.statement for known in request.known]
    return ExtractionSource(
        request=request,
        messages=read,
        parts={
            seq: tuple((part, Quotable(part.text)) for part in list_parts(message, silent_calls=silent))
            for seq, message in read.items()
        },
        lineage=lineage,
        held=HeldFacts(request.spoken, others, first_seq=request.first_seq, last_seq=request.last_seq),
    )


def read_stepwise(text: str, source: ExtractionSource) -> Steps[ReadExtraction]:
    """What a reply found, with a pause after each entry. Never raises: a fault is its `problem`, or refused and counted.

    An entry with the ref of a known item in `repeats` is taken with that item's own words, so it is the same again by
    identity. One in `replaces` goes along where the new words have the authority for it, and is dropped otherwise.
    """
    lists = _find_lists(text)
    if isinstance(lists, str):
        return ReadExtraction(problem=lists)
    found: dict[tuple[str, ...], Candidate] = {}
    refused: Counter[RefusalKind] = Counter()
    for kind, entry in _walk(lists):
        yield
        try:
            if len(found) >= MOST_CANDIDATES:
                raise _RefusedError("too_many")  # noqa: TRY301 - it is counted where all refusals are
            one = _read_entry(kind, entry, source)
        except _RefusedError as error:
            refused[error.kind] += 1
            continue
        key = (one.kind, one.tier, " ".join(one.statement.lower().split()))
        found[key] = _join(found[key], one) if key in found else one
    return ReadExtraction(
        candidates=tuple(found.values()),
        refused=tuple(refused.items()),
        problem=_name_problem(refused, has_found=bool(found)),
    )


def _name_problem(refused: Counter[RefusalKind], *, has_found: bool) -> str:
    """What is wrong with a reply of which not one quote is true."""
    false_count = refused["not_said"]
    if has_found or not false_count or false_count < refused.total():
        return ""
    return f"none of its {false_count} quotes stands in the messages; copy each exactly from one of them"


def _find_lists(text: str) -> dict[str, object] | str:
    """The object with the lists, or what is wrong."""
    text = text[:_MOST_REPLY_CHARS]
    if not text.strip():
        return "it was empty; answer with the JSON object"
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict) and not _KINDS.keys().isdisjoint(value):
                return _check_lists(value)
        at = text.find("{", end)
    return f"it holds no JSON object with the lists {', '.join(_KINDS)}; answer with that object, whole and valid"


def _check_lists(value: dict[str, object]) -> dict[str, object] | str:
    for name in _KINDS:
        if not isinstance(value.get(name) or [], list):
            return f"{name} is no list; expected a list of objects"
    return value


def _walk(lists: Mapping[str, object]) -> Iterator[tuple[ItemKind, object]]:
    for name, kind in _KINDS.items():
        entries = lists.get(name)
        if isinstance(entries, list):
            yield from ((kind, entry) for entry in entries)


def _read_entry(kind: ItemKind, entry: object, source: ExtractionSource) -> Candidate:
    """One entry, with every rule applied.

    Raises:
        _RefusedError: it cannot be taken.
    """
    if not isinstance(entry, dict):
        raise _RefusedError("shape")
    evidence = _find_evidence(entry, source)
    repeated = _find_known(entry.get("repeats"), source)
    if repeated is not None:
        if AUTHORITY[evidence.origin] < repeated.authority:
            raise _RefusedError("known")
        return _repeat(repeated, evidence, entry)
    statement = _read_statement(entry, evidence, source)
    tier = _choose_tier(kind, entry.get("tier"), evidence.origin)
    if evidence.origin in {"tool", "external"} and _wants(evidence.quote, statement):
        raise _RefusedError("order")
    valid_from, valid_to = read_validity(entry, evidence, source.messages[evidence.seq].view.text)
    candidate = Candidate(
        kind=kind,
        tier=tier,
        statement=statement,
        evidence=(evidence,),
        origin=evidence.origin,
        confidence=_read_confidence(entry.get("confidence")),
        valid_from=valid_from,
        valid_to=valid_to,
    )
    if kind in _SETTLED and evidence.origin == "assistant" and is_echo(candidate, source.messages.values()):
        raise _RefusedError("order")
    replaced = _find_known(entry.get("replaces"), source)
    if replaced is None or AUTHORITY[candidate.origin] < replaced.authority:
        return candidate
    return replace(candidate, replaces=replaced.id)


def _repeat(item: Item, evidence: Evidence, entry: Mapping[str, object]) -> Candidate:
    """The item found again, in its own words."""
    return Candidate(
        kind=item.kind,
        tier=item.tier,
        statement=item.statement,
        evidence=(evidence,),
        origin=evidence.origin,
        confidence=_read_confidence(entry.get("confidence")),
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        is_explicit=item.is_explicit,
    )


def _join(first: Candidate, second: Candidate) -> Candidate:
    """The same statement found twice: one candidate with the evidence of both, and the lower origin."""
    return replace(
        first,
        evidence=tuple(dict.fromkeys((*first.evidence, *second.evidence))),
        origin=min(first.origin, second.origin, key=AUTHORITY.__getitem__),
        confidence=max(first.confidence, second.confidence),
        replaces=first.replaces or second.replaces,
    )


# --- evidence


def _find_evidence(entry: Mapping[str, object], source: ExtractionSource) -> Evidence:
    """The exact slice that an entry quotes: in the message that it names, else in the only one that says it."""
    quote = entry.get("quote")
    if not isinstance(quote, str) or not any(map(str.isalnum, quote)):
        raise _RefusedError("shape")
    seq = _read_seq(entry.get("seq"))
    places = list(_find_places(quote, source, [seq] if seq is not None and seq in source.parts else []))
    if not places:
        places = list(_find_places(quote, source, [other for other in source.parts if other != seq]))
        if len({place.seq for place in places}) != 1:
            raise _RefusedError("not_said")
    place = places[0]
    if len(place.quote) > QUOTE_CHARS:
        raise _RefusedError("too_long")
    if redact_secrets(place.quote) != place.quote:
        raise _RefusedError("not_said")
    return place


def _find_places(quote: str, source: ExtractionSource, seqs: Sequence[int]) -> Iterator[Evidence]:
    for seq in seqs:
        message = source.messages[seq]
        for part, quotable in source.parts[seq]:
            found = quotable.find(quote)
            if found is None or not _proves(part.text, *found):
                continue
            yield Evidence(
                session_id=find_holder(source.lineage, seq),
                seq=seq,
                start=part.start + found[0],
                quote=part.text[found[0] : found[1]],
                content_hash=message.content_hash,
                origin=part.origin,
                said_at=message.said_at,
            )


def _proves(text: str, start: int, end: int) -> bool:
    """Whether a slice is a quote and not letters that stand anywhere: whole words, or most of what was said."""
    if end - start < _LEAST_QUOTE_CHARS:
        return len(text.strip()) <= _WHOLE_CHARS and _ends_words(text, start, end)
    return _ends_words(text, start, end)


def _ends_words(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    inside_first = before.isascii() and before.isalnum() and text[start].isascii() and text[start].isalnum()
    inside_last = after.isascii() and after.isalnum() and text[end - 1].isascii() and text[end - 1].isalnum()
    return not inside_first and not inside_last


def _read_seq(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    found = _SEQ.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(found[1]) if found else None


# --- what is said of it


def _read_statement(entry: Mapping[str, object], evidence: Evidence, source: ExtractionSource) -> str:
    """The statement on one line, secrets redacted; relative words of time get the day that they are seen from."""
    statement = entry.get("statement")
    if not isinstance(statement, str):
        raise _RefusedError("shape")
    text = " ".join(clean_text(redact_secrets(statement)).split())
    if not any(map(str.isalnum, text)):
        raise _RefusedError("shape")
    if source.held.list_missing(text):
        raise _RefusedError("invented")
    text = date_relative(text, evidence.said_at)
    if len(text) > STATEMENT_CHARS:
        raise _RefusedError("too_long")
    return text


def _choose_tier(kind: ItemKind, asked: object, origin: Origin) -> Tier:
    """The tier of a candidate, by its kind and speaker; only the user's words are about the user."""
    if kind not in _ALLOWED[origin]:
        raise _RefusedError("not_allowed")
    is_person = AUTHORITY[origin] >= AUTHORITY["user"]
    if asked == "user" and not is_person and kind == "decision":
        raise _RefusedError("not_allowed")
    if asked == "user" and is_person:
        return "user"
    return "user" if asked != "agent" and is_person and kind == "preference" else "agent"


def _wants(quote: str, statement: str) -> bool:
    """Whether words that may only report demand something: an order, a rule, a promise in another's name."""
    if find_hostile(quote) is not None or find_hostile(statement) is not None:
        return True
    return any(
        line.kind in _WANTING
        for text in (quote, statement)
        for line in find_extract_lines(
            text, seq=0, origin="user", is_result=False, said_at=datetime.min.replace(tzinfo=UTC)
        )
    )


def _find_known(ref: object, source: ExtractionSource) -> Item | None:
    if not isinstance(ref, str):
        return None
    return next((known.item for known in source.request.known if known.ref == ref.strip("[] ")), None)


def _read_confidence(value: object) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return _DEFAULT_CONFIDENCE
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return _DEFAULT_CONFIDENCE
    return float(min(max(value, 0), 1))
