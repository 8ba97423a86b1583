"""What a statement says that it changes: its marks, and what each of them speaks of.

Source: own grammar, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.changes.foreign_marks import FOREIGN_MARKS
from everfold.core.changes.kinds import ChangeMark, MarkKind
from everfold.core.changes.marks import ENGLISH_MARKS, MARKS
from everfold.core.clauses.assertions import (
    POINTERS,
    REMEMBERED_READINGS,
    VERBS,
    Assertion,
    expand,
    list_stems,
    list_tokens,
    read_assertion,
)
from everfold.core.clauses.slots import is_value
from everfold.core.text.patterns import compile_pattern

_CUES: Final = (
    r"\b(?:correction|typo|update|wrong|oops|mistake|change|mistaken|meant|scratch|forget|mis(?:read|spoke|typed|remembered)|mind|make (?:it|that)|as i said|wait|turn(?:s|ed) out|what i said|actually"
    r"|now|these days|currently|as of|instead|effective|rather|not|no longer|i said|it was|stop\w*|used to|is wrong|quit|gave up|given up|ceased|cancel\w*|called off|moved|postponed|rescheduled|changed|extended"
    r"|raised|lowered|renamed|relocated|migrated|upgraded|delayed|pushed|brought forward|shifted|shortened|increased|reduced|cut|set|put off|updated|reassigned|transferred|switched|from now|in place of|before"
    r"|went|converted|replaced|left|dropped|swapped|strike|disregard|ignore|my bad|correct|i was off|mixed|after all|in fact|by now|meanwhile|lately|recently|since|starting|become|became|going forward|nowadays|this time"
    r"|bumped|rose|gone|came|climbed|fell|grew|rebooked|slipped|assigned|handed|passed|promoted|downgraded|halved|doubled|corrected|renewed|sold|new|took over|takes over|resigned|retired|rid|gave|broke up|divorced|goodbye"
    r"|out of|away|phased|scrapped|ditched|abandoned|second thoughts?|missed|please note|from today|from tomorrow|lifted|scaled|reset|shrunk|put back|put forward"
    r")\b"
)
_FOREIGN_CUES: Final = (
    r"\b(?:korrektur|nein|falsch|meinte|geirrt|vertan|verschrieben|jetzt|nun|ab sofort|inzwischen|mittlerweile|neuerdings|\w*statt\w*|nicht|kein\w*|aufgehört|abgesagt|gestrichen|fällt aus|verschoben|umgezogen|verlegt"
    r"|geändert|gewechselt|erhöht|gesenkt|verlängert|umbenannt|vorgezogen|gezogen|\w+gestiegen|umgestellt|anstelle"
    r"|erratum|non|pardon|voulais|trompée?|maintenant|désormais|dorénavant|à présent|en fait|plutôt|pas|plus|au lieu|à la place|arrêté|annulé\w*|déplacé\w*|reporté\w*|décalé\w*|repoussé\w*|avancé\w*|prolongé\w*|passé\w*"
    r"|transféré\w*|changé\w*|déménagé\w*|emménagé\w*|remplacé"
    r"|corrección|perdón|quise|equivoqué|ahora|en realidad|actualmente|no|en vez|en lugar|ya no|dejé|cancelad\w+|movi\w+|cambi\w+|aplaz\w+|pospu\w+|traslad\w+|pasad\w+|pasó|pasamos|pasé|adelantad\w|retrasad\w|mud\w+"
    r"|correzione|scusa|volevo|sbagliat\w|adesso|ora|d'ora|in realtà|attualmente|invece|al posto|più|smesso|annullat\w|spostat\w|rinviat\w|rimandat\w|cambiat\w|anticipat\w|trasferit\w|passat\w"
    r"|correctie|nee|sorry|bedoelde|vergist|nu|voortaan|tegenwoordig|eigenlijk|niet|geen|in plaats|gestopt|afgelast|geannuleerd|verplaatst|verzet|verschoven|verhuisd|uitgesteld|gewijzigd|verlengd|verhoogd|overgestapt|gegaan"
    r"|correção|desculpa|não|dizer|enganei|agora|na verdade|atualmente|em vez|no lugar|ao invés|já não|parei|adiad\w+|mudad\w+|mudou|passou|foi|alterad\w+|transferid\w+|antecipad\w+|remarcad\w+"
    r"|поправка|исправление|нет|ошибка|виду|ошибся|ошиблась|теперь|сейчас|отныне|на самом деле|не|вместо|больше|уже|отмен\w+|перенес\w+|переехал\w*)\b"
    r"|更正|纠正|不对|说错|不是|不再|已经不|取消|改|推迟|提前|换成|搬到|移到|訂正|間違え|すみません|ではなく|じゃなくて|もう|中止|変更|延期|移動|引っ越"
)
"""Words of which one stands in whatever has a mark, in English and in other languages: most statements are not searched for marks."""
_ADDITIVE: Final = re.compile(
    r"\b(?:also|too(?=\s*(?:[.,;!?]|$))|as well|(?<!to )(?<!at )(?<!in )(?<!with )(?<!for )another|additionally|in addition|auch|außerdem|aussi|también|anche|ook|também|ещё|еще|тоже)\b|也|还"
)
_ALSO: Final = re.compile(r"^also,? ")
"""What only opens a sentence that says itself that something has changed."""
_OPEN: Final = re.compile(
    r"\?\s*$|\b(?:(?<!asked )(?<!asks )if|whether|might|maybe|perhaps|possibly|probably|could be|could have|would be|would have|may be|may have|not sure|(?:thinking (?:about|of)|dreaming of|considering|tempted to) (?:leav|quit|sell|mov|chang|switch|stopp?|cancel|giv|dropp?|end|clos|retir|divorc|resign|mov)(?:e|ing)?|wenn|falls|vielleicht|peut-être|quizás|forse"
    r"|misschien|talvez|если|возможно|может быть)\b"
)
"""Questions and suppositions change nothing."""
_CLAUSES: Final = re.compile(
    r"\s*(?:(?<!\d)[,;:!?]|[,;:!?](?!\d)|[。，；、])+\s*|(?<!\b[DdMm]r)(?<!\b[Mm]rs)(?<!\b[Mm]s)(?<!\b[Ss]t)(?<!\b[Nn]o)(?<!\bProf)\.\s+|\s+(?:and|but|und|aber|et|pero|sino|sondern|maar|mas|а|но)\s+|\s+[-–—]\s+"
)


Marks = Sequence[tuple[ChangeMark, re.Match[str]]]


class Change(NamedTuple):
    """What a statement says of others.

    Attributes:
        kinds: Its marks.
        rejected: The stems of each value that it says is not so, and of what was used until now, in `switched`.
        ended: The stems of each clause that says what is not so any more.
        moved: What it says was moved, with where to.
        clauses: Its clauses without marks and without what it rejects.
        content: The stems of all of it.
        plain: All of it without the words that say that it changes something.
        is_bare: Whether it names no subject of its own ("no, make it 12, not 300").
        is_first: Whether the speaker is the subject of a clause.
        is_idle: Whether it changes nothing: it asks, supposes, or adds to what was said.
    """

    kinds: frozenset[MarkKind]
    rejected: tuple[frozenset[str], ...]
    switched: tuple[frozenset[str], ...]
    ended: tuple[Assertion, ...]
    moved: tuple[tuple[Assertion, tuple[str, ...]], ...]
    clauses: tuple[Assertion, ...]
    content: frozenset[str]
    plain: Assertion
    is_bare: bool
    is_first: bool
    is_idle: bool


@lru_cache(maxsize=REMEMBERED_READINGS)
def read_change(text: str) -> Change:
    """The marks of a statement, and what they say of others."""
    expanded = expand(text).strip()
    lowered = expanded.lower()
    rejected: list[frozenset[str]] = []
    switched: list[frozenset[str]] = []
    moved: list[tuple[Assertion, tuple[str, ...]]] = []
    marks = tuple(_find_marks(lowered))
    kinds = frozenset(mark.kind for mark, _ in marks)
    for mark, found in marks:
        if mark.kind in ("rejects", "switches"):
            (rejected if mark.kind == "rejects" else switched).append(_read_group(found, "old"))
        elif mark.kind == "moves":
            moved.append(_read_moved(expanded, found, marks))
            if found.groupdict().get("old"):
                switched.append(_read_group(found, "old"))
    plain = _strip_marks(expanded, marks, (*_NOW, "rejects")) if marks else expanded.strip(" ,;:.!")
    clauses = tuple(map(read_assertion, _list_clauses(plain)))
    ended = tuple(_list_ended(expanded)) if "ends" in kinds else ()
    whole = read_assertion(expanded)
    return Change(
        kinds=kinds,
        rejected=tuple(filter(None, rejected)),
        switched=tuple(filter(None, switched)),
        ended=ended,
        moved=tuple(moved),
        clauses=clauses,
        content=whole.content,
        plain=read_assertion(_strip_marks(expanded, marks, _NOW)) if kinds else whole,
        is_idle=bool(_ADDITIVE.search(_ALSO.sub("", lowered) if kinds else lowered) or _OPEN.search(lowered)),
        is_bare=all(map(_is_bare, clauses)),
        is_first=any(clause.is_first for clause in (whole, *clauses)),
    )


def _list_clauses(plain: str) -> list[str]:
    """A statement, and each of its clauses; one without a subject has that of the clause before it."""
    clauses, subject = [plain], ""
    for part in _split(plain):
        read = read_assertion(part)
        if read.verb_at == 0 and subject and not read.is_first:
            clauses.append(f"{subject} {part}")
        elif read.verb_at > 0 and not read.is_pointing:
            subject = " ".join(read.raw[: read.verb_at])
        clauses.append(part)
    return [part for part in dict.fromkeys(clauses) if part]


def _is_bare(clause: Assertion) -> bool:
    """Whether a clause names nothing but a value."""
    words = clause.tokens[max(clause.verb_at, 0) :]
    named = [word for word in words if list_stems((word,)) and word not in VERBS | POINTERS]
    return clause.is_pointing and (not named or is_value(named))


def _find_marks(lowered: str) -> Iterator[tuple[ChangeMark, re.Match[str]]]:
    for cues, marks in ((_CUES, ENGLISH_MARKS), (_FOREIGN_CUES, FOREIGN_MARKS)):
        for mark in marks if compile_pattern(cues).search(lowered) else ():
            if (found := compile_pattern(mark.pattern).search(lowered)) is not None:
                yield mark, found


def _read_group(found: re.Match[str], name: str) -> frozenset[str]:
    groups = found.groupdict()
    return list_stems(list_tokens(groups.get(name) or groups.get(f"{name}2") or "")) - {"on", "one"}


def _read_moved(expanded: str, found: re.Match[str], marks: Marks) -> tuple[Assertion, tuple[str, ...]]:
    """What was moved, as the subject of a clause, and the words of where to."""
    start, end = found.span("subject")
    subject = _strip_marks(expanded[start:end], marks, _NOW)
    first, last = found.span("new")
    thing = read_assertion(f"{subject} is") if subject.strip() else read_assertion("I am")
    return thing, list_tokens(expanded[first:last])


_NOW: Final[tuple[MarkKind, ...]] = ("corrects", "now", "instead")


def _strip_marks(text: str, marks: Marks, kinds: Sequence[MarkKind]) -> str:
    """A sentence without the words of its marks of some kinds, and without what it says is not so."""
    stripped = (mark for mark, _ in marks if mark.kind in kinds)
    for mark in sorted(stripped, key=lambda one: one.kind != "rejects"):
        text = compile_pattern(f"(?i:{mark.pattern})").sub(_keep_end, text)
    return " ".join(text.split()).strip(" ,;:.!")


def _keep_end(found: re.Match[str]) -> str:
    """What is put for a mark: nothing, or the comma that ends a group."""
    return " " if not found[0].startswith((",", ";", ":")) else ", "


def _split(text: str) -> list[str]:
    return [part.strip(" .") for part in _CLAUSES.split(text) if part.strip(" .")]


def _list_ended(expanded: str) -> Iterator[Assertion]:
    """The clauses that deny something, without the words that do."""
    for part in _split(expanded):
        for mark in MARKS:
            if mark.kind == "ends" and compile_pattern(mark.pattern).search(part.lower()):
                said = re.sub(compile_pattern(_ENDING), " ", part.lower())
                yield read_assertion(_restore(part, " ".join(said.split())))
                break


_ENDING: Final = (
    r"\bno longer\b|\bnot\b|\bany ?more\b|\bany longer\b|\b(?:stopped|quit|gave up|given up|ceased)\b|\b(?:do|does|did)\b|\b(?:has been|have been|is|are|was|got) (?:cancell?ed|called off)\b"
    r"|\b(?:nicht|kein\w*) mehr\b|\baufgehört\b|\b(?:ist |wurde |wird )?(?:abgesagt|gestrichen)\b|\bfällt aus\b|\bne\b|\bplus\b|\barrêté\b|\b(?:est |a été )?annulée?s?\b|\bya no\b|\bmás\b|\bdejé de\b|\b(?:está |fue )?cancelad[oa]s?\b"
    r"|\bnon\b|\bpiù\b|\bsmesso di\b|\b(?:è |è stata |è stato )?annullat[oaie]\b|\b(?:niet|geen) (?:meer|langer)\b|\bgestopt met\b|\b(?:is )?(?:afgelast|geannuleerd)\b|\bjá não\b|\bnão\b|\bmais\b|\bparei de\b|\bno\b"
    r"|\bбольше не\b|\bуже не\b|\bотмен[её]н[ао]?\b|不再|已经不|取消|了|もう|中止|ません|ない"
)


def _restore(original: str, lowered: str) -> str:
    """The text with its first letter as it was."""
    return original[:1] + lowered[1:] if lowered[:1] == original[:1].lower() else lowered
