"""Until when a statement holds, if its own words give the end: "until 6 March", "this week", "from 5 to 9 March".

Careful rather than complete: what tells of the past, of a start or of a habit has no end, and neither has a day of which
the year cannot be told. A day word counts only in a clause of the statement itself, and only if no other of its clauses
lasts. The day on which it was said gives the reference, in UTC as everywhere in memory; the last day counts whole. "Today"
and "this week" are read in the zone where it is latest, since the speaker's zone is unknown.

Source: own rules; each language's examples are tried in `tests/unit/core/text/test_ends.py`.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Generator, Iterator
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Final

from everfold.core.text.end_clauses import is_covered, keeps, list_clauses
from everfold.core.text.end_days import (
    AFTER_UNTIL,
    BOUND,
    COUNT,
    FIRST,
    LAST,
    PERIOD_END,
    REST,
    REST_OF_DAY,
    UNIT,
    UNTIL,
    WEEKDAYS,
    SaidOn,
    is_of_one_week,
    list_days,
    read_day,
    read_moment,
    read_weekdays,
    shift,
)
from everfold.core.text.end_verbs import END_VERB, list_verb_ends
from everfold.core.text.past_tense import tells_past
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.wide_ends import list_wide_ends

_END_WORDS: Final = ("end", "fin", "a fine")
_FROM_TO: Final = (
    r"\b(?:from|between|vom|von|du|del|dal|van|de) (?:the )?(?:[\w.,]+ ){1,4}?"
    rf"(?:to|until|till|through|and|bis(?: zum)?|au|al|tot|a|à) (?:the )?{LAST}"
)
_RANGES: Final = (
    _FROM_TO,
    rf"\bс \d{{1,2}}(?: \w+)? по {LAST}",
    rf"\b(?:{FIRST}|\d{{1,2}}(?:st|nd|rd|th|\.)?)(?: ?[-\u2013] ?| (?:to|through|bis) ){LAST}",
)
_AWAY: Final = (
    r"\b(?:(?:(?:am|are|is|'m|'re|will be) (?:away|off|out|in|at|on|here|home|abroad|sick|ill|without|unavailable|travell?ing|staying|visiting|closed)|stay(?:s|ing)?)\b[^.;!?]*? for (?:about |another )?"
    r"|(?:bin|bleibe|bleiben|ben|blijf)\b(?:[^.;!?]*? (?<!\bseit )(?<!\bvor )(?<!\bin )(?<!\bnach )(?<!\bal )(?<!\bover )| )(?:für )?"
    r"|(?:suis|sommes|reste|restons|estoy|estamos|me quedo|sono|siamo|resto|estou|fico)\b[^.;!?]*? (?:pendant|pour|durante|por|per) )"
    rf"{COUNT} {UNIT}\b(?! (?:old|alt|per|pro|ago|now))"
)
"""How long a person is somewhere or away: what merely lasts so long ("the trial lasts for two weeks") does not end with it."""
_DAYS: Final = r"(?P<unit>days|weeks|months|tagen?|wochen|jours|semaines|mois|días|semanas|meses|giorni|settimane|mesi|dagen|weken|maanden|dias)"
_COUNTED: Final = (
    rf"\b(?:for|over|in) the (?:next|coming) (?:{COUNT} )?{UNIT}\b",
    r"\bthe next (?P<count>couple of|few) (?P<unit>days|weeks|months)\b",
    rf"\b(?:(?:die|in den) (?:nächsten|kommenden)|l[oa]s próxim[oa]s|(?:i|nei) prossimi|(?:n?elle|le) prossime|de komende|n?[oa]s próxim[oa]s) (?:{COUNT} )?{_DAYS}\b",
    rf"\bles (?:{COUNT} )?prochain\w* {_DAYS}\b",
    rf"(?:^|(?<=[,:] ))for (?:about )?{COUNT} {UNIT}\b(?! (?:of|per|a|each|now)\b)",
    rf"\b(?:don't|do not) (?:disturb|call|contact|ring|ping|message|text|email|mail|phone|bother|visit|wake)\b.* for {COUNT} {UNIT}[.!]?$",
    _AWAY,
)
_ON_LEAVE: Final = (
    r"\b(?:(?:am|'m|are|'re|is|'s|will be|'ll be) (?:on (?:holiday|vacation|leave|a trip)|off sick)|(?:i|we)(?: will|'ll)? have (?:guests|visitors)|urlaub|verreist|krank"
    r"|en vacances|en congé|(?:suis|est|sommes) malades?|de vacaciones|de viaje|est(?:oy|á|amos) enferm[oa]s?|in (?:vacanza|ferie|viaggio)|(?:sono|è) malat[oa]|vakantie|op reis|(?:ben|is) ziek"
    r"|de férias|em viagem|est(?:ou|á) doente|в отпуске|в отъезде|болею)\b"
)
"""Beside it days of the week are those of one week; who is at a place, away or on the road may be so each week."""
_EACH_WEEK: Final = r"\b(?:(?:most|some|all|many) weeks|weekends?|weekdays|(?:mon|tues|wednes|thurs|fri|satur|sun)days|office|homeoffice|büro|guest ?house|hotel|b&b|restaurant)\b"
_OF_RANGE: Final = r" (?:job|week|shift|schedule|routine|rota|deal|pass|ticket|menu|course|class|person|thing)\b"
"""A noun that a range of days describes: "this Monday to Friday job"."""
_SEVERAL: Final = ("few", "a few", "couple of", "a couple of", "paar", "ein paar")
_SOME_DAYS: Final = r"\bthe next (?:couple of|few) "
_ANY_DAY: Final = (
    r"^(?=.*\b(?:if|when|whenever|once|after|wenn|falls|nachdem|quand|après|cuando|quando|dopo|wanneer|depois)\b|(?:an?|one|two|some|too) [^.,;]* and i\b)"
    rf".*(?:{REST_OF_DAY.replace('?P<today>', '?:')}|{_SOME_DAYS})"
)
"""What follows on something else follows on it each time."""
_ORDER: Final = (
    r"^(?:(?:and|but|so|please|bitte|also) )*(?:don't|do not|no|not|use|keep|stay|call|send|skip|mute|hold|cancel|book|answer|write|reply|leave|let|turn|put"
    r"|kein\w*|nicht|ruf\w*|ne|n'\w+|pas|non|niet|geen|bel|não|nada|nenhum\w*)\b"
)
_FORBIDS: Final = (
    r"^(?:(?:and|but|so|please|also),? )*(?:(?:don't|do not) (?:disturb|call|contact|ring|ping|message|text|email|mail|phone|bother|visit|wake|deploy|schedule"
    r"|book|send|push|merge|release|change|touch|plan|invite|expect|remind)\b|no (?:meetings?|calls?|deploys?|deployments?|releases?|emails?|messages|appointments?|visits?)\b)"
)
"""What is not to be done for so long, whatever the reason."""
_BEING: Final = r"\b(?:i am|i'm|we are|we're|(?:i|we)(?: will|'ll| won't) be|ich bin|bin ich|wir sind|sind wir|(?:je|j'|nous) (?:ne )?(?:suis|sommes)|estoy|estamos|sono|siamo|ben|(?:wij|we) zijn|estou)\b"
_EFFECT: Final = (
    r"\b(?:gives|makes|keeps|leaves|ruins|causes|upsets|wakes|knocks|give|make) (?:me|us|him|her|them|you|people)\b"
)
_EACH_TIME: Final = r"\b(?:without|with|because|due to|thanks to|from|before|by|at \d\S*|mornings?|noon|lunch|breakfast|dinner|evenings?|nights?|but|then|never|always|often|ohne|mit|sans|avec|sin|con|senza|zonder|met|sem|com)\b"
"""A cause or a part of the day, beside which the rest of the day and the days after are those of any day."""
_HABIT: Final = r"\b(?:every|each|always on|usually|normally|yearly|annually|monthly|weekly|daily|jede\w*|chaque|toujours|cada|ogni|elke|tod[oa]s? (?:(?:os|as|los|las|o|a|el|la) )?(?:d[ií]as?|semanas?|mes\w*|años?|anos?|noches?|noites?|lunes|martes)|season|birthday|anniversary|geburtstag|anniversaire|cumpleaños|compleanno|verjaardag|aniversário|born)\b"
_START: Final = (
    r"\b(?:from|since|starting|beginning|as of|effective|by|after|before|not|ab|seit|dès|depuis|desde|a partir de|da|dal|vanaf|sinds|von|guten|am|jeden|por la|de la|la)"
    r"(?: the| end of)? (?=(?:today|tonight|tomorrow|this|next|heute|morgen|diese|nächste|demain|aujourd'hui|cette|mañana|hoy|esta|domani|oggi|questa|vandaag|deze|hoje|amanhã))"
)
_LASTING: Final = (
    r"\b(?:mov\w+|marr\w+|wedding|adopt\w*|buy\w*|turns?|turning|start\w*|begin\w*|launch\w*|switch\w*|quit\w*|retir\w*|graduat\w*|chang\w*|becom\w+|born|birthday|anniversary|leav\w+ (?:the|my) (?:job|company)"
    r"|deadline|due|decid\w*|will be \d+|ziehe\w*|heirat\w*|beginn\w*|déménag\w*|marie\w*|commenc\w*|mud[oa]\w*|cas(?:o|arse|amos|ar|ado)|empiez\w+|trasfer\w+|spos\w+|inizi\w+|verhui\w+|trouw\w*|begint|come[çc]\w*)\b"
)
"""What happens on a day and stays so: the day's end does not end it."""
_SUBJECT_BEHIND: Final = (
    r"(?:i|we|you|he|she|they|it|my \w+|our \w+)(?: \w+ly| also| only| still| just)? \w|(?:i'm|we're|he's|she's|i've|we've) |\w+ (?:ich|wir|er|sie|ik|je)\b"
    r"|(?:je|j'|nous|il|elle|on|ik|wij|я|мы) ?\w|(?:\w+[oa]|soy|estoy|sou|estou|è|está|\w+mos) (?:en|de|con|como|in|a|come|per|em|na|no|um?a?)\b"
)
_NOWADAYS: Final = rf"^(?:today|heute|aujourd'hui|hoy|oggi|vandaag|hoje|сегодня),? (?:{_SUBJECT_BEHIND})"
"""At the head of a clause, before a plain present, the word may mean "these days"."""
_OF_A_DAY: Final = (
    r"\b(?:\w+ing|away|off|out|home|sick|ill|busy|late|free|(?:un)?available|on (?:call|leave|holiday|vacation|duty)|no|not|can't|cannot|won't|will|must|need"
    r"|guests|visitors|exam|test|meetings?|appointment|until|krank|weg|nicht|kein\w*|zu hause|homeoffice|unterwegs|termin|prüfung|muss|kann|malade|maison"
    r"|télétravail|absente?|pas|casa|enferm[oa]|malat[oa]|no|non|não|thuis|ziek|niet|дома|не|нет)\b"
)
_AND_LATER: Final = (
    r",? ?(?:(?:or|and|oder|und|ou|et|y|o|e|en|of) (?:later|ever|always|any|the next|after|immer|später|toujours|plus tard|siempre|sempre|altijd|dopo)"
    r"|included|inclusive|inbegriffen|eingeschlossen|compris|incluid[oa]|compres[oa])\b"
)
_LONGEST_CHARS: Final = 1_000
"""What is longer states more than one thing; it also bounds the work."""
_SIGNS: Final = (UNTIL, BOUND, REST, REST_OF_DAY, WEEKDAYS, END_VERB, *_RANGES, *_COUNTED)
"""Without one of them a statement names no end."""
_LIST_MARK: Final = r"\n+\s*(?:[-*\u2022]|\d{1,2}[.)])\s+"


def read_ends_ahead() -> Generator[None, None, None]:
    """Make the patterns ready, with a pause after each: together they take 20 to 60 ms, once in a process."""
    for pattern in (_HABIT, _ANY_DAY, *_SIGNS, AFTER_UNTIL):
        compile_pattern(pattern)
        yield


@lru_cache(maxsize=4096)
def find_end(text: str, said_at: datetime) -> datetime | None:
    """The last second of the last day on which a statement holds; None where its words give none.

    Args:
        text: The statement, as it was said.
        said_at: When, aware.
    """
    lowered = " ".join(compile_pattern(_LIST_MARK).sub("; ", text.lower().replace("\u2019", "'")).split())
    if len(lowered) > _LONGEST_CHARS or any(compile_pattern(pattern).search(lowered) for pattern in (_HABIT, _ANY_DAY)):
        return None
    said = read_moment(said_at)
    days = [day for day in (_find_last(lowered, said), _find_wide(lowered, said)) if day is not None]
    return datetime.combine(max(days), time(23, 59, 59), tzinfo=UTC) if days else None


def _find_wide(lowered: str, said: SaidOn) -> date | None:
    return None if lowered.isascii() else max(list_wide_ends(lowered, said), default=None)


def _find_last(lowered: str, said: SaidOn) -> date | None:
    """The last of the ends of all clauses that are stated; None where one of them lasts."""
    if not any(compile_pattern(pattern).search(lowered) for pattern in _SIGNS):
        return None
    last: date | None = None
    for clause in list_clauses(lowered):
        if clause.kind == "cause" and keeps(clause.text):
            return None
        if clause.kind == "main":
            days = [
                day for day in (*_list_until(clause.text, said), *_list_spans(clause.text, said)) if day is not None
            ]
            if not days:
                if not is_covered(clause, follows_end=last is not None):
                    return None
                days = list_days(clause.text, 0, said) if last is not None else []
            last = max((*days, last) if last is not None else days, default=last)
    return last


def _list_until(clause: str, said: SaidOn) -> Iterator[date | None]:
    """The ends that are written as ends: "until ...", "from ... to ...", "for the next ..."."""
    if tells_past(clause, looks_ahead=True):
        return
    yield from _list_weekdays(clause, said)
    ranges = [found.span() for found in compile_pattern(WEEKDAYS).finditer(clause)]
    for match in compile_pattern(UNTIL).finditer(clause):
        if not any(start <= match.start() < end for start, end in ranges):
            found = compile_pattern(AFTER_UNTIL).match(clause, match.end())
            if found is None and any(end in match[0] for end in _END_WORDS):
                found = compile_pattern(PERIOD_END).match(clause, match.end())
            if found is not None:
                yield read_day(found, said)
    for pattern in (*_RANGES, REST):
        if (found := compile_pattern(pattern).search(clause)) is not None:
            yield read_day(found, said)
    found = compile_pattern(REST_OF_DAY).search(clause)
    if found is not None and _is_said_of_now(clause, found):
        yield read_day(found, said)
    yield from _list_counted(clause, said)
    yield from list_verb_ends(clause, said)


def _list_counted(clause: str, said: SaidOn) -> Iterator[date | None]:
    """The ends so many days ahead, and the few days of what is told of now."""
    for pattern in _COUNTED:
        found = compile_pattern(pattern).search(clause)
        if found is None or compile_pattern(_EFFECT).search(clause):
            continue
        if (found["count"] or "few") not in _SEVERAL or _is_said_of_now(clause, found):
            several = "few" if compile_pattern(_DAYS).fullmatch(found["unit"]) else "1"
            yield shift(said, found["count"] or several, found["unit"])


def _is_said_of_now(clause: str, found: re.Match[str]) -> bool:
    """Whether a clause is an order or tells how the speaker is, with no cause beside: anything else may be so on any day."""
    beside = (clause[: found.start()] + clause[found.end() :]).strip(" ,.!?;:")
    if compile_pattern(_FORBIDS).search(beside):
        return True
    if compile_pattern(_EFFECT).search(beside) or compile_pattern(_EACH_TIME).search(beside):
        return False
    return any(compile_pattern(pattern).search(beside) for pattern in (_ORDER, _BEING))


def _list_weekdays(clause: str, said: SaidOn) -> Iterator[date | None]:
    """The ends of ranges of days of the week, where they are those of one week: a leave, or "next Monday to Friday"."""
    found = compile_pattern(WEEKDAYS).search(clause)
    if found is None or compile_pattern(_OF_RANGE).match(clause, found.end()):
        return
    if compile_pattern(_EACH_WEEK).search(clause) or list_days(clause, found.end(), said):
        return
    if is_of_one_week(found) or compile_pattern(_ON_LEAVE).search(clause):
        yield read_weekdays(found, said)


def _list_spans(clause: str, said: SaidOn) -> Iterator[date | None]:
    """The days and weeks to which all of a clause is bound: "tomorrow", "this week"."""
    if any(compile_pattern(pattern).search(clause) for pattern in (_LASTING, _START)) or tells_past(
        clause, looks_ahead=False
    ):
        return
    if compile_pattern(_NOWADAYS).match(clause) and not compile_pattern(_OF_A_DAY).search(clause):
        return
    for match in compile_pattern(BOUND).finditer(clause):
        is_end = compile_pattern(UNTIL + "$").search(clause[: match.start()]) is not None
        if not is_end and compile_pattern(_AND_LATER).match(clause, match.end()) is None:
            yield read_day(match, said)
