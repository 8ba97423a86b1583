"""What in a text would turn a model that reads it against its user.

A text is scanned as it was written, for characters that are not shown and for secrets, and as it reads, for the wordings
of attacks (`rule_tables`), with its disguises taken off (`disguises`). A note that quotes an attack and says that it
is one is no attack.

This knows wordings, not intentions: usual attacks in any disguise are caught, a new wording passes more often than not
(`python -m bench threats`, fresh). What must hold does not rest on it: fences and authority do not look at words.

Source: DESIGN section 4, "Threats".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from everfold.core.primitives.stepwise import Steps
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.wordings import WordingIndex, index_wordings, read_branches
from everfold.core.threats.disguises import Folded, fold, list_readings
from everfold.core.threats.kinds import ThreatKind, ThreatRule
from everfold.core.threats.openings import is_forbidden, opens_order
from everfold.core.threats.redaction import redact_secrets
from everfold.core.threats.rule_tables import RULES
from everfold.core.threats.unseen import find_invisible, find_turned

MOST_SCANNED_CHARS: Final = 65_536
"""What is longer is a threat without being scanned. Source: DESIGN section 4; no note of memory comes near it."""

_MARK: Final = re.compile(r"\[secret redacted: [\w ]{1,20}\]")
_MENTIONED: Final = frozenset({"instruction_override", "identity_change", "concealment", "forged_mark"})
_ABOUT_ATTACKS: Final = (
    r"\b(?:injections?|jailbreaks?|attacks?|attackers?|payloads?|red team|phishing|malicious|adversarial|detectors?)\b"
)
_QUOTES: Final = "\"'`"
_QUOTE_CHARS: Final = 60
_REPORT_CHARS: Final = 120
"""How far around a wording its quotation marks are looked for, and before them the word that says what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """One thing that a text would do to its reader.

    Attributes:
        kind: What it would do.
        rule: The wording by which it was found; never the text itself.
        start: Where it stands in the raw text. What was decoded has all that was decoded with it.
        end: The character after it.
    """

    kind: ThreatKind
    rule: str
    start: int
    end: int


def scan_memory(text: str, *, is_note: bool = False) -> tuple[Threat, ...]:
    """Every threat in a text that memory is to hold or to show, by place; of each rule the first.

    O(length), some 70 microseconds for a note of one line, a millisecond for 1,000 characters.

    Args:
        text: What was said, or noted.
        is_note: A machine wrote it: it may not lift a check, as what its user says may.
    """
    if len(text) > MOST_SCANNED_CHARS:
        return (Threat(kind="oversized", rule="too long to be scanned", start=0, end=len(text)),)
    folded = fold(text)
    found: dict[tuple[ThreatKind, str], Threat] = {}
    for threat in (*_scan_unseen(text), *_scan_secrets(folded), *_scan_wordings(folded, is_note=is_note)):
        found.setdefault((threat.kind, threat.rule), threat)
    return tuple(sorted(found.values(), key=lambda it: (it.start, it.end, it.kind, it.rule)))


def _scan_unseen(text: str) -> Iterator[Threat]:
    if (span := find_invisible(text)) is not None:
        yield Threat(kind="invisible", rule="characters that show nothing", start=span[0], end=span[1])
    if (span := find_turned(text)) is not None:
        yield Threat(kind="bidirectional", rule="marks that turn text around", start=span[0], end=span[1])


def _scan_secrets(folded: Folded) -> Iterator[Threat]:
    """What `redact_secrets` would replace, in the raw text or in the folded one."""
    if (span := _find_secret(folded.raw)) is not None:
        yield Threat(kind="secret", rule="a secret, written out", start=span[0], end=span[1])
    elif folded.text != folded.raw and (span := _find_secret(folded.text)) is not None:
        start, end = folded.find_span(*span)
        yield Threat(kind="secret", rule="a secret, written out", start=start, end=end)


def _find_secret(text: str) -> tuple[int, int] | None:
    """Where the first secret stands, told from what is left around its mark."""
    redacted = redact_secrets(text)
    if redacted == text:
        return None
    for mark in _MARK.finditer(redacted):
        if not text.startswith(redacted[: mark.end()]):
            following = redacted[mark.end() : mark.end() + 1]
            end = text.find(following, mark.start() + 1) if following else len(text)
            return mark.start(), end if end > mark.start() else len(text)
    return 0, len(text)


def read_rules_ahead() -> Steps[None]:
    """Make the wordings ready with a pause after each rule, the first time only: 40 ms together. A scan then looks them up."""
    if _read_index.cache_info().currsize:
        return
    for rule in RULES:
        for wording in rule.wordings:
            read_branches(wording.pattern)
        yield
    for is_note in (False, True):
        _read_index(is_note=is_note)
        yield


@cache
def _read_index(*, is_note: bool) -> WordingIndex[ThreatKind]:
    """The wordings that hold in memory, made ready when the first text is scanned."""
    return index_wordings(RULES, scopes=("all", "memory", "note") if is_note else ("all", "memory"))


def _scan_wordings(folded: Folded, *, is_note: bool) -> Iterator[Threat]:
    index = _read_index(is_note=is_note)
    for found in index.find(folded.lowered, excuse=_is_excused):
        start, end = folded.find_span(found.start, found.end)
        yield Threat(kind=found.rule.kind, rule=found.rule.name, start=start, end=end)
    for reading in list_readings(folded):
        for found in index.find(reading.text, excuse=_is_excused):
            yield Threat(kind=found.rule.kind, rule=found.rule.name, start=reading.start, end=reading.end)


def _is_excused(rule: ThreatRule, text: str, start: int, end: int) -> bool:
    """Whether the wording orders nothing: it is quoted as an attack, is a report, or its sentence forbids it."""
    if rule.kind == "lifted_check":
        return not opens_order(text, start)
    if rule.kind == "concealment" and is_forbidden(text, start):
        return True
    return _is_mentioned(rule, text, start, end)


def _is_mentioned(rule: ThreatRule, text: str, start: int, end: int) -> bool:
    """Whether the wording stands in quotation marks behind a word that says what it is."""
    if rule.kind not in _MENTIONED:
        return False
    before, after = text[max(start - _QUOTE_CHARS, 0) : start], text[end : end + _QUOTE_CHARS]
    for quote in _QUOTES:
        opened = before.rfind(quote)
        if opened >= 0 and quote in after and "\n" not in before[opened:] + after[: after.index(quote)]:
            place = start - len(before) + opened
            return compile_pattern(_ABOUT_ATTACKS).search(text[max(place - _REPORT_CHARS, 0) : place]) is not None
    return False
