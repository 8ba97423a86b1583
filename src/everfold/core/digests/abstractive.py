"""Abstractive digests: a model's verified text in the frame of every digest, with the extractive lines that it stands on.

Theory of operation. The extractive part is decided first, from the same sources and whatever the model will say: the
standing instructions of the range as exact quotes, and a place for one line of identifiers. What the cap leaves is the
room of the model's text, known before a model is asked. The identifiers are filled in last, since those that the text
holds already need no second place.

The text is data: its lines are brought into the form of digest rows, which can forge no marker; a line that speaks to
its reader becomes a placeholder; a line that rests on a message from outside is fenced and says so.

Source: DESIGN 3.4; docs/adr/0017-abstractive-digests.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everfold.core.digests.extractive import DigestSource, DigestText, count_sources, name_speakers
from everfold.core.digests.facts import Fact, list_facts, plain_text
from everfold.core.digests.requests import LEAST_OUTPUT_TOKENS
from everfold.core.digests.rows import DigestFrame, Estimate, name_range, neutralise, write_rows
from everfold.core.primitives.origins import Origin
from everfold.core.replacement.supersession import has_ended, list_current
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.strengths import measure_strength
from everfold.core.text.frames import name_seqs
from everfold.core.threats.hostile import find_digest_threat
from everfold.core.threats.redaction import redact_secrets

STANDING_RATIO: Final = 0.35
"""The most of a digest that standing instructions take; those of the whole log have a slice of their own beside it."""
IDENTIFIERS_RATIO: Final = 0.1
MOST_IDENTIFIER_TOKENS: Final = 120
"""About fifteen identifiers with their numbers."""
_SLACK_TOKENS: Final = 16
"""What joining parts may add to the sum of their estimates. Source: own measurement, at most 9 on real texts."""
_MARGIN: Final = 0.97
"""The same for a long text, where what is neutralised adds a sign here and there."""
_STANDING_TITLE: Final = "Standing, in the user's own words:"
_IDENTIFIERS_TITLE: Final = "Identifiers: "
_CITED: Final = re.compile(r"#(\d{1,9})")
_HEADING: Final = re.compile(r"#{1,6}\s+(?=\D)|\*\*(?=[^*]{1,60}\*\*:?$)")
_IDENTIFIER_KINDS: Final = frozenset(("identifier", "path", "email", "number"))
_IDENTIFIER_CHARS: Final = range(3, 61)
_NO_NAME: Final = re.compile(r"\\(?:[nrt]|$)|^[\d:+.-]*[:.][\d:+.-]*$|^\d{4}-\d\d-\d\d")
"""Times, dates, measures, and what is cut out of escaped text."""
_NUMBER_CHARS: Final = 5


class _Floor(NamedTuple):
    """The extractive part without the identifiers, and the room that is left for them and for the model's text."""

    frame: DigestFrame
    rows: tuple[str, ...]
    lines: tuple[ExtractLine, ...]
    identifier_tokens: int
    body_tokens: int


def measure_body_budget(
    sources: Sequence[DigestSource], *, first_seq: int, last_seq: int, cap_tokens: int, estimate: Estimate
) -> int:
    """How many tokens of the cap are the model's text's; 0 where that is too few to be useful."""
    floor = _lay_floor(sources, first_seq, last_seq, cap_tokens, estimate)
    return floor.body_tokens if floor.body_tokens >= LEAST_OUTPUT_TOKENS else 0


def compose_abstractive_digest(
    bodies: Sequence[str],
    sources: Sequence[DigestSource],
    *,
    first_seq: int,
    last_seq: int,
    cap_tokens: int,
    estimate: Estimate,
) -> DigestText | None:
    """The digest of verified texts, at most `cap_tokens`; None where the room or what they hold is too little.

    Args:
        bodies: What the model wrote, one text a request, in the order of their ranges. Same headings are joined.
        sources: What the extractive digest of the same range is made of.
        first_seq: The first message of the range.
        last_seq: The last one.
        cap_tokens: What the digest may measure, markers and appended lines included.
        estimate: The estimator that the window uses.
    """
    floor = _lay_floor(sources, first_seq, last_seq, cap_tokens, estimate)
    body = _write_body(bodies, {source.seq: source.origin for source in sources})
    if floor.body_tokens < LEAST_OUTPUT_TOKENS or not any(map(_tells, body)):
        return None
    identifiers, seqs = _write_identifiers(sources, "\n".join((*body, *floor.rows)), floor.identifier_tokens, estimate)
    for row, shown in ((identifiers, seqs), ("", ())):
        text = floor.frame.write((*body, *floor.rows, *([row] if row else ())))
        if (tokens := estimate(text)) <= cap_tokens:
            quoted = {line.seq for line in floor.lines} | set(shown)
            return DigestText(text=text, tokens=tokens, shown_seqs=tuple(sorted(quoted)))
    return None


def _lay_floor(
    sources: Sequence[DigestSource], first_seq: int, last_seq: int, cap_tokens: int, estimate: Estimate
) -> _Floor:
    speakers, legend = name_speakers(sources)
    frame = DigestFrame(first_seq, last_seq, count_sources(sources) + legend, cap_tokens, estimate)
    free = max(frame.free_tokens, 0)
    rows, lines = _write_standing(sources, speakers, int(free * STANDING_RATIO), estimate)
    identifier_tokens = min(int(free * IDENTIFIERS_RATIO), MOST_IDENTIFIER_TOKENS)
    used = (estimate("\n".join(rows)) if rows else 0) + identifier_tokens + _SLACK_TOKENS
    return _Floor(frame, rows, lines, identifier_tokens, max(int((free - used) * _MARGIN), 0))


def _write_standing(
    sources: Sequence[DigestSource], speakers: Mapping[int, str], cap_tokens: int, estimate: Estimate
) -> tuple[tuple[str, ...], tuple[ExtractLine, ...]]:
    """Rows of the standing instructions that hold, in their order, and the lines that they quote.

    Where not all fit: the strongest first, the newest first within a strength; the others are named by range.
    """
    current = list_current(line for source in sources for line in source.lines)
    as_of = max(source.said_at for source in sources)
    holding = [line for line in current if line.standing and not has_ended(line, as_of)]
    rated = [(measure_strength(line.kind, line.quote), line) for line in holding]
    standing = [line for strength, line in sorted(rated, key=lambda one: (-one[0], -one[1].seq)) if strength]
    for count in range(_bound_count(standing, cap_tokens, estimate), 0, -1):
        shown = sorted(standing[:count], key=lambda line: (line.seq, line.start))
        rows, _ = write_rows(shown, speakers, None)
        missing = _point_to([line.seq for line in standing[count:]])
        written = (_STANDING_TITLE, *rows, *([missing] if missing else ()))
        if estimate("\n".join(written)) <= cap_tokens:
            return written, tuple(shown)
    missing = _point_to([line.seq for line in standing])
    return ((missing,) if missing and estimate(missing) <= cap_tokens else ()), ()


def _point_to(seqs: Sequence[int]) -> str:
    """Where standing instructions are read that have no place here; empty when there are none."""
    if not seqs:
        return ""
    noun = "message" if min(seqs) == max(seqs) else "messages"
    return f"{len(seqs)} standing statements more, {noun} {name_range(min(seqs), max(seqs))}: read them from history."


def _bound_count(lines: Sequence[ExtractLine], cap_tokens: int, estimate: Estimate) -> int:
    """How many can fit at the very most, by their quotes alone."""
    left = cap_tokens + cap_tokens // 4
    for count, line in enumerate(lines):
        left -= estimate(neutralise(line.quote))
        if left < 0:
            return count
    return len(lines)


def _write_body(bodies: Sequence[str], origins: Mapping[int, Origin]) -> list[str]:
    """The lines of all texts, those under equal headings together, none of which can do harm."""
    sections: dict[str, list[str]] = {"": []}
    titles: dict[str, str] = {}
    for body in bodies:
        key = ""
        for line in body.splitlines():
            if not line.strip():
                continue
            if _HEADING.match(line.strip()) and find_digest_threat(line) is None:
                title = neutralise(line.strip().strip("#*: \t"))
                key = title.lower()
                titles.setdefault(key, f"## {title}")
                sections.setdefault(key, [])
            else:
                sections[key].append(_write_line(line, origins))
    return [
        row
        for key, lines in sections.items()
        if lines
        for row in (*([titles[key]] if key else ()), *dict.fromkeys(lines))
    ]


def _write_line(line: str, origins: Mapping[int, Origin]) -> str:
    shown = neutralise(redact_secrets(line))
    seqs = [int(seq) for seq in _CITED.findall(line)]
    if find_digest_threat(line) is not None:
        about = (
            f" about {'message' if len(set(seqs)) == 1 else 'messages'} {name_seqs(sorted(set(seqs)))}" if seqs else ""
        )
        return f"[A line{about} is left out: it read as an instruction.]"
    if any(origins.get(seq) == "external" for seq in seqs):
        return f"external (untrusted): <<{shown}>>"
    return shown


def _tells(row: str) -> bool:
    return not row.startswith(("## ", "[A line"))


def _write_identifiers(
    sources: Sequence[DigestSource], shown: str, cap_tokens: int, estimate: Estimate
) -> tuple[str, tuple[int, ...]]:
    """One line of the identifiers that are shown nowhere else, from the most telling lines, with their messages."""
    lowered = shown.lower()
    chosen: dict[str, int] = {}
    row = ""
    lines = sorted((line for source in sources for line in source.lines), key=lambda line: (-line.score, -line.seq))
    for text, seq in _list_identifiers(lines):
        if text.lower() in lowered or text in chosen:
            continue
        longer = _IDENTIFIERS_TITLE + ", ".join(f"{one} #{of}" for one, of in (*chosen.items(), (text, seq)))
        if estimate(longer) > cap_tokens:
            break
        chosen[text] = seq
        row = longer
    return row, tuple(chosen.values())


def _list_identifiers(lines: Sequence[ExtractLine]) -> Iterator[tuple[str, int]]:
    """Identifiers of lines that are not from outside and hold no secret. A quote's last word may be cut, so it is left."""
    for line in lines:
        if line.origin == "external" or redact_secrets(line.quote) != line.quote:
            continue
        for fact in list_facts(plain_text(line.quote)):
            if _is_identifier(fact) and not line.quote.endswith(fact.text) and not line.quote.startswith(fact.text):
                yield neutralise(fact.text), line.seq


def _is_identifier(fact: Fact) -> bool:
    if fact.kind not in _IDENTIFIER_KINDS or len(fact.text) not in _IDENTIFIER_CHARS or _NO_NAME.search(fact.text):
        return False
    digits = sum(map(str.isdigit, fact.text))
    return digits >= _NUMBER_CHARS if fact.kind == "number" else digits > 0 or fact.kind in {"path", "email"}
