"""Candidates: which of a message's extract lines become memory, and how they are made safe before they are stored.

The lines were noted when the message arrived, so nothing is detected here a second time. Only what was said is
looked at (see `evidence`), and of that only the text, without tool results and attached documents.

Source: DESIGN section 4, "Extraction" and "Threats"; REQUIREMENTS U-40, U-44.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from everfold.core.extraction.always_shown import choose_shelf, shelve_answer
from everfold.core.extraction.answers import find_question, join_answer
from everfold.core.extraction.evidence import list_parts
from everfold.core.extraction.remembering import find_memory_kind, is_bare_answer
from everfold.core.log.messages import Message
from everfold.core.memory.items import Candidate, Evidence, ItemKind, Tier
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.statements.extracts import QUOTE_CHARS, ExtractLine
from everfold.core.text.ends import find_end
from everfold.core.threats.redaction import redact_secrets
from everfold.core.threats.scanning import scan_memory

EXPLICIT_CHARS: Final = 2000
"""How much of what a person asks to remember is one statement: half a page. More is a document, which the log keeps."""
_NEARLY_CUT_CHARS: Final = QUOTE_CHARS - 30
"""From this length on a quote may be a part of its sentence."""
_END: Final = re.compile(r"[.!?\u3002\uff01\uff1f](?=\s|$)|\n")
_PARAGRAPH_END: Final = re.compile(r"\n\s*\n")
_OF_PERSON: Final[frozenset[ItemKind]] = frozenset(("fact", "preference", "decision"))


def find_candidates(
    message: Message, *, session_id: SessionId, before: str | None = None, asked: Message | None = None
) -> tuple[Candidate, ...]:
    """What a message says that should be remembered, in its order.

    What the user says of themselves, wants and decides is of the user tier; tasks, of either speaker, and what
    the assistant settles for itself is of the agent's. Words that ask to be remembered are the statement as they are.

    Args:
        message: With its extract lines.
        session_id: The session that stores it.
        before: What was said just before it: who answers a question about himself tells a fact.
        asked: The assistant's message that says it, of the same session: a bare answer stands with its question.
    """
    if not message.lines or message.kind not in ("user", "assistant"):
        return ()
    kinds = [(line, kind) for line in message.lines if (kind := find_memory_kind(line, before=before)) is not None]
    if not kinds:
        return ()
    text = message.view.text
    spans = [(part.start, part.start + len(part.text)) for part in list_parts(message) if part.is_written]
    kinds = [(line, kind) for line, kind in kinds if _is_within(line, spans)]
    found = tuple(_make_candidate(message, line, kind, session_id=session_id, text=text) for line, kind in kinds)
    is_whole = len(found) == 1 and message.kind == "user" and found[0].statement.strip() == text.strip()
    if is_whole and asked is not None and (joined := _add_question(found[0], asked)) is not None:
        return (joined,)
    return tuple(one for one, (line, _) in zip(found, kinds, strict=True) if not is_bare_answer(line))


def _is_within(line: ExtractLine, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a line stands in one of the stretches that its sender wrote."""
    return any(start <= line.start and line.start + len(line.quote) <= end for start, end in spans)


def clean_candidate(candidate: Candidate) -> Candidate:
    """A candidate as it may be stored: without secrets, and with no more authority than its weakest source.

    A quote that holds a secret is cut before it, so that it stays an exact slice; one that is nothing else is empty, and
    still tells its message. Only the user's own words are explicit.
    """
    evidence = tuple(one._replace(quote=cut_secret(one.quote)) for one in candidate.evidence)
    origin = min((candidate.origin, *(one.origin for one in evidence)), key=AUTHORITY.__getitem__)
    return replace(
        candidate,
        statement=redact_secrets(candidate.statement.strip()),
        evidence=evidence,
        origin=origin,
        is_explicit=candidate.is_explicit and AUTHORITY[origin] >= AUTHORITY["user"],
    )


def list_item_threats(statement: str, evidence: Sequence[Evidence] = (), *, origin: Origin) -> tuple[str, ...]:
    """The rules by which a scan finds threats in a statement or its quotes, each once.

    Args:
        statement: May be empty.
        evidence: Each quote is scanned as of its own origin.
        origin: Whose words the statement is; below the user's it is a note, which may not lift a check.
    """
    texts = dict.fromkeys(
        (text, is_note(of)) for text, of in ((statement, origin), *map(_read_quote, evidence)) if text
    )
    return tuple(dict.fromkeys(threat.rule for text, noted in texts for threat in scan_memory(text, is_note=noted)))


def is_note(origin: Origin) -> bool:
    """Whether words of an origin were written by a machine."""
    return AUTHORITY[origin] < AUTHORITY["user"]


def _read_quote(one: Evidence) -> tuple[str, Origin]:
    return one.quote, one.origin


def _make_candidate(
    message: Message, line: ExtractLine, kind: ItemKind, *, session_id: SessionId, text: str
) -> Candidate:
    is_explicit = line.kind == "remember" and line.origin == "user"
    start, end = _find_asked(text, line) if is_explicit else (line.start, line.start + len(line.quote))
    quoted = Evidence(
        session_id=session_id,
        seq=message.seq,
        start=start,
        quote=text[start:end],
        content_hash=message.content_hash,
        origin=line.origin,
        said_at=message.said_at,
    )
    return Candidate(
        kind=kind,
        tier=_choose_tier(line, kind),
        statement=quoted.quote,
        evidence=(quoted,),
        origin=line.origin,
        confidence=line.score / 100,
        valid_from=message.said_at,
        valid_to=find_end(quoted.quote, message.said_at),
        is_explicit=is_explicit,
        shelf=choose_shelf(line, quoted.quote),
    )


def _add_question(candidate: Candidate, asked: Message) -> Candidate | None:
    """A bare answer as a statement with the question that it answers; None for anything else."""
    (answer,) = candidate.evidence
    spans = [(part.start, part.start + len(part.text)) for part in list_parts(asked) if part.is_written]
    question = (
        find_question(asked, answer.quote.strip()) if candidate.kind == "fact" and not candidate.is_explicit else None
    )
    if question is None or not any(start <= question[0] < end for start, end in spans):
        return None
    quoted = answer._replace(
        seq=asked.seq,
        start=question[0],
        quote=question[1],
        content_hash=asked.content_hash,
        origin=asked.origin,
        said_at=asked.said_at,
    )
    return replace(
        candidate,
        statement=join_answer(question[1], answer.quote.strip()),
        evidence=(quoted, answer),
        tier="user",
        shelf=shelve_answer(question[1]),
    )


def _choose_tier(line: ExtractLine, kind: ItemKind) -> Tier:
    """Whom it is about: the person, or the agent's work. What a user promises is about the user."""
    is_person = line.origin == "user" and (kind in _OF_PERSON or line.kind == "commitment")
    return "user" if is_person else "agent"


def _find_asked(text: str, line: ExtractLine) -> tuple[int, int]:
    """Start and end of what is to be remembered: the whole sentence, or after a colon the rest of the paragraph."""
    start, end = line.start, line.start + len(line.quote)
    most = min(len(text), start + EXPLICIT_CHARS)
    if line.quote.rstrip().endswith(":"):
        boundary = _PARAGRAPH_END.search(text, end, most)
        end = boundary.start() if boundary else most
    elif len(line.quote) >= _NEARLY_CUT_CHARS:
        low = max(0, start - EXPLICIT_CHARS // 2)
        start = max((mark.end() for mark in _END.finditer(text, low, start)), default=low)
        start += len(text[start:end]) - len(text[start:end].lstrip())
        boundary = _END.search(text, max(end - 1, start), most)
        end = boundary.end() if boundary else most
    return start, start + len(text[start:end].rstrip())


def cut_secret(quote: str) -> str:
    """A quote up to the first secret in it, so that it stays an exact slice."""
    redacted = redact_secrets(quote)
    if redacted == quote:
        return quote
    same = next(at for at in range(len(quote) + 1) if quote[at : at + 1] != redacted[at : at + 1])
    return quote[:same]
