"""Chats: the lines of a pasted talk, each with the name of who speaks before it.

A name ends in a colon, stands in angle brackets, or has the time behind it; it may be set in bold, have a role in
brackets ("Ben (guest):"), and have the time before it. A list of the writer's own labels ("Note: ...") looks the same,
so that names count only where two come back, or a bold one or one with a role does and the lines answer each other.

Source: the forms in which chat services copy and export; own rules for labels, tuned on tests/data/others_words.jsonl.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from everfold.core.statements.rules import list_word_set
from everfold.core.statements.segments import Span

_DAY: Final = r"(?:\d{1,4}[-./]\d{1,2}[-./]\d{1,4},?[ T])?"
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[AaPp][Mm])?"
_NAME: Final = r"[^\W\d_][^\n:<>\[\](){}.,;!?\"]{0,23}"
_BOLD_NAME: Final = r"[^\W\d_][^\n:<>\[\](){}.,;!?\"*_]{0,23}"
_ROLE: Final = r"[ ]?\([^\n:()]{1,24}\)"
_CHAT_LINE: Final = re.compile(
    rf"^[ \t]*(?:[\[(]?{_DAY}{_CLOCK}[\])]?[ ]?[-\u2013]?[ ]?)?"
    rf"(?:<([^<>\n:]{{1,24}})>[ ]|({_NAME})({_ROLE})?[:\uff1a](?=\s)"
    rf"|(?:\*\*|__)({_BOLD_NAME})({_ROLE})?(?:[:\uff1a](?:\*\*|__)|(?:\*\*|__)(?:{_ROLE})?[:\uff1a])(?=\s))",
    re.MULTILINE,
)
_NAME_FIRST: Final = re.compile(
    rf"^[ \t]*{_NAME}[ ]?[,(\[]?[ ]?(?:\d{{1,4}}[-./]\d{{1,2}}[-./]\d{{1,4}},?[ ])?{_CLOCK}[)\]]?(?::|[ \t]*$)",
    re.MULTILINE,
)
_BELOW: Final = re.compile(r"\s*\n[ \t]*(?=\S)")
_LABELS: Final = list_word_set(
    "rule note todo tip hint example rules notes regel notiz hinweis règle remarque regla nota regola"
    " important warning always never must do don't dos don'ts good bad right wrong yes no wichtig achtung"
    " monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun"
    " montag dienstag mittwoch donnerstag freitag samstag sonntag"
    " lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
    " понедельник вторник среда четверг пятница суббота воскресенье"
    " tests test code style format tone language emails email mails answers replies docs commits names files meetings travel food work private"
    " question answer stil sprache ton antworten termine reisen essen arbeit privat frage antwort"
    " réponses langue travail question réponse estilo formato tono idioma respuestas correos trabajo stile risposte lingua lavoro"
    " morning noon midday afternoon evening night breakfast lunch dinner break bedtime"
    " morgens morgen vormittag mittag mittags nachmittag abend abends nacht frühstück mittagessen abendessen pause aufstehen feierabend"
    " matin midi soir nuit mañana mediodía tarde noche desayuno almuerzo cena mattina mezzogiorno sera pranzo ochtend middag avond"
)
"""What stands before a colon or a time without being who speaks: labels, and the days and hours of a plan."""
_SPEAKERS: Final = list_word_set(
    "interviewer candidate interviewee applicant moderator host guest doctor patient teacher student caller agent customer client seller buyer"
    " operator recruiter manager employee driver waiter lawyer judge witness therapist speaker narrator"
)
"""Who speaks in a talk and is no label of a list."""
_ASKING: Final = frozenset(("q", "a"))
"""One who asks himself, where no one else speaks."""
_STAMP: Final = re.compile(rf"^[ \t]*[\[(]?{_DAY}\d{{1,2}}:\d\d", re.MULTILINE)
_ENCLOSED_STAMP: Final = re.compile(rf"^[ \t]*[\[(]{_DAY}\d{{1,2}}:\d\d", re.MULTILINE)
"""The time before a bold name; without brackets it is an entry of a day's plan."""
_LEAST_STAMPED: Final = 2
_talks: Final = re.compile(
    r"[ \t]*(?:(?:hi|hello|hey|ok|okay|yes|yeah|sure|thanks|thank you|bye|hallo|danke|ja|nein|tschüss|bonjour|salut|merci|oui|hola|gracias|vale"
    r"|ciao|grazie|olá|obrigad[oa]|dank je|привет|спасибо)(?!\w)|[^\n]*\?[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
).match
"""What is said to a person who is there: greetings, thanks, assent and questions, which no list of rules has."""


def list_chats(text: str) -> Iterator[Span]:
    """A pasted chat, from its first line to its last: some who speak in turn, or lines with the time before a name."""
    found = list(_CHAT_LINE.finditer(text))
    stamped = [one for one in found if one[1] or (_ENCLOSED_STAMP if one[4] else _STAMP).match(one[0])]
    speaker_count = sum(not _is_label(one) for one in stamped)
    spoken = stamped if speaker_count >= _LEAST_STAMPED else _list_turns(found)
    if spoken:
        end = text.find("\n\n", spoken[-1].end())
        yield spoken[0].start(), end if end >= 0 else len(text)
    timed = [one for one in _NAME_FIRST.finditer(text) if _is_turn(text, one)]
    if len(timed) >= _LEAST_STAMPED:
        end = text.find("\n\n", timed[-1].end())
        yield timed[0].start(), end if end >= 0 else len(text)


def _list_turns(lines: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The lines of those who speak in turn, from the first who is no label; none where they are the writer's own labels."""
    spoken = [line for line in lines if not _is_label(line)]
    names = [_read_name(line) for line in spoken]
    if set(names) == _ASKING or not (_come_back(names) or _answer_each_other(spoken)):
        return []
    return [line for line in lines if line.start() >= spoken[0].start()]


def _is_label(line: re.Match[str]) -> bool:
    return _read_name(line).partition("(")[0].strip() in _LABELS


def _read_name(line: re.Match[str]) -> str:
    """Who a line says that speaks, with the role: the same word with another one in brackets is another label."""
    name, role = line[2] or line[4] or line[1], line[3] or line[5] or ""
    return f"{name.strip()}{role}".lower().replace("\u2019", "'")


def _is_turn(text: str, stamp: re.Match[str]) -> bool:
    """Whether a name with the time behind it has text, and is no entry of a week's plan."""
    if _LABELS.isdisjoint(stamp[0].lower().split()[:1]):
        below = _BELOW.match(text, stamp.end())
        return stamp[0].endswith(":") or (below is not None and _NAME_FIRST.match(text, below.end()) is None)
    return False


def _come_back(names: Sequence[str]) -> bool:
    """Whether at least two names come back after one another."""
    return len(set(names)) > 1 and sum(names.count(name) > 1 for name in set(names)) > 1


def _answer_each_other(lines: Sequence[re.Match[str]]) -> bool:
    """Whether a name that is bold, has a role or is one comes back behind another one, and what is said is part of a talk."""
    if not any(_talks(line.string, line.end()) for line in lines):
        return False
    marked = {_read_name(line) for line in lines if line[4] or line[3] or _read_name(line) in _SPEAKERS}
    turns = [name for name, _ in groupby(map(_read_name, lines))]
    return any(turns.count(name) > 1 for name in marked)
