"""Until when a statement holds, if its own words give the end: "until 6 March", "this week", "from 5 to 9 March".

Careful rather than complete: what tells of the past, of a start or of a habit has no end, and neither has a day of which
the year cannot be told. The day on which it was said gives the reference, in UTC as everywhere in memory; the last day
counts whole.

Source: own rules; each language's examples are tried in `tests/unit/core/text/test_ends.py`.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final

from everfold.core.text.patterns import compile_pattern
from everfold.core.text.wide_ends import list_wide_ends

_MONTH_NAMES: Final = (
    "january|jan|januar|januari|janvier|enero|gennaio|janeiro|января",
    "february|feb|februar|februari|février|febrero|febbraio|fevereiro|февраля",
    "march|mar|märz|maart|mars|marzo|março|марта",
    "april|apr|avril|abril|aprile|апреля",
    "may|mai|mei|mayo|maggio|maio|мая",
    "june|jun|juni|juin|junio|giugno|junho|июня",
    "july|jul|juli|juillet|julio|luglio|julho|июля",
    "august|aug|augustus|août|agosto|августа",
    "september|sept|sep|septembre|septiembre|settembre|setembro|сентября",
    "october|oct|oktober|okt|octobre|octubre|ottobre|outubro|октября",
    "november|nov|novembre|noviembre|novembro|ноября",
    "december|dec|dezember|dez|décembre|diciembre|dicembre|dezembro|декабря",
)
_DAY_NAMES: Final = (
    "monday|montag|lundi|lunes|lunedì|maandag|segunda-feira|segunda|понедельника",
    "tuesday|dienstag|mardi|martes|martedì|dinsdag|terça-feira|terça|вторника",
    "wednesday|mittwoch|mercredi|miércoles|mercoledì|woensdag|quarta-feira|quarta|среды",
    "thursday|donnerstag|jeudi|jueves|giovedì|donderdag|quinta-feira|quinta|четверга",
    "friday|freitag|vendredi|viernes|venerdì|vrijdag|sexta-feira|sexta|пятницы",
    "saturday|samstag|sonnabend|samedi|sábado|sabato|zaterdag|субботы",
    "sunday|sonntag|dimanche|domingo|domenica|zondag|воскресенья",
)
_MONTHS: Final = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names.split("|")}
_DAYS: Final = {name: at for at, names in enumerate(_DAY_NAMES) for name in names.split("|")}
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_DATE: Final = (
    r"(?:(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?(?: of| de| d')? ?{_MONTH}\b\.?(?:,?(?: de)? (?P<year2>\d{{4}}))?"
    rf"|{_MONTH.replace('month', 'month2')}\b\.? (?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<year3>\d{{4}}))?"
    r"|(?P<day4>\d{1,2})\.(?P<number4>\d{1,2})\.(?P<year4>\d{4})?)"
)
_PERIOD: Final = (
    rf"(?:{_MONTH.replace('month', 'month5')}\b(?:(?: of| de)? (?P<year5>\d{{4}}))?|(?P<year6>(?:19|20)\d\d)\b)"
)
_WEEKDAY: Final = rf"(?:(?:on|this|coming|diesen|ce|este|questo|deze) )?(?P<next>next |nächsten |kommenden |volgende )?(?P<weekday>{'|'.join(_DAYS)})(?! ?s\b|s\b)"
_NEAR_DAY: Final = (
    r"(?P<today>today|tonight|heute|aujourd'hui|ce soir|hoy|oggi|stasera|vandaag|hoje|сегодня)\b"
    r"|(?P<overmorrow>the day after tomorrow|übermorgen|après-demain|pasado mañana|dopodomani|overmorgen|depois de amanhã|послезавтра)\b"
    r"|(?P<tomorrow>tomorrow|morgen|demain|mañana|domani|amanhã|завтра)\b"
)
_SPAN: Final = (
    r"(?P<this_week>(?:this|the|diese[r]?|cette|esta|questa|deze|essa) (?:week|woche|semaine|semana|settimana)|(?:на )?этой неделе)\b"
    r"|(?P<weekend>(?:this|the|dieses|ce|este|questo|dit) (?:weekend|wochenende|week-end|fin de semana|fine settimana))\b"
    r"|(?P<next_week>(?:next|nächste[nr]?|volgende) (?:week|woche)|la semaine prochaine|la próxima semana|la prossima settimana|a próxima semana|следующей неделе)\b"
    r"|(?P<this_month>(?:this|diese[nmr]?|ce|este|questo|deze|esse) (?:month|monat|mois|mes|mese|maand|mês)|(?:в )?этом месяце)\b"
    r"|(?P<this_year>(?:this|dieses|cette|este|quest'|dit|esse) ?(?:year|jahr|année|año|anno|jaar|ano))\b"
)
_UNTIL: Final = (
    r"\b(?:until|till|til|through|up to|bis(?: zum| einschließlich| einschl\.)?|jusqu'(?:au|à|en)|hasta(?: el)?|fino (?:alla fine del(?:la)?|al|a)|tot(?: en met)?|até(?: o| a)?|до)"
    r"(?: and including)?(?: the)?(?: end of| ende| la fin de| fin de| a fine)? "
)
_RANGES: Final = (
    rf"\b(?:from|between|vom|von|du|del|dal|van|de) (?:the )?(?:[\w.,]+ ){{1,4}}?(?:to|until|till|through|and|bis(?: zum)?|au|al|tot|a|à) (?:the )?{_DATE}",
    rf"\bс \d{{1,2}}(?: \w+)? по {_DATE}",
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?: ?[-\u2013] ?| to ){_DATE}",
)
_NEXT_COUNT: Final = r"\b(?:for|over|in) the next (?P<count>\d{1,3}|two|three|four|five|six|seven|ten|few)? ?(?P<unit>day|week|month)s?\b|\bdie nächsten (?P<count2>\d{1,3}|zwei|drei) (?P<unit2>tage|wochen|monate)\b"
_REST: Final = (
    r"(?:\brest (?:of (?:the|this)|des|der|du|van de|van het) |\bresto d(?:el|ella|o|a) )(?:(?P<this_week>week|woche|semaine|settimana|semana)|(?P<this_month>month|monats|mois|mese|mes|maand|mês)"
    r"|(?P<this_year>year|jahres|anno|año|jaar|ano))\b"
)
_PERIOD_END: Final = (
    r"(?:the|des|der|de la|de|du|del|della|do|da|van de|van het)? ?(?:(?P<this_week>week|woche|semaine|settimana|semana)|(?P<this_month>month|monats|mois|mese|mes|maand|mês)"
    r"|(?P<this_year>year|jahres|année|anno|año|jaar|ano))\b"
)
_COUNTS: Final = {
    **dict.fromkeys(("one", "a", "eine", "einen", "une", "un", "una", "een", "uma", "um"), 1),
    **dict.fromkeys(("two", "zwei", "deux", "dos", "due", "twee", "duas", "dois"), 2),
    **dict.fromkeys(("three", "drei", "trois", "tres", "tre", "drie", "três"), 3),
    **dict.fromkeys(("four", "vier", "quatre", "cuatro", "quattro", "quatro"), 4),
    **dict.fromkeys(("five", "fünf", "cinq", "cinco", "cinque", "vijf"), 5),
    **dict.fromkeys(("six", "sechs", "seis", "sei", "zes"), 6),
    "seven": 7,
    "ten": 10,
}
_UNITS: Final = {
    **dict.fromkeys(
        (
            "day",
            "days",
            "tag",
            "tage",
            "jour",
            "jours",
            "día",
            "días",
            "giorno",
            "giorni",
            "dag",
            "dagen",
            "dia",
            "dias",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "week",
            "weeks",
            "woche",
            "wochen",
            "semaine",
            "semaines",
            "semana",
            "semanas",
            "settimana",
            "settimane",
            "weken",
        ),
        7,
    ),
    **dict.fromkeys(
        ("month", "months", "monat", "monate", "mois", "mes", "meses", "mese", "mesi", "maand", "maanden", "mês"), 31
    ),
}
_COUNT_WORDS: Final = "|".join(_COUNTS)
_UNIT_WORDS: Final = "|".join(sorted(_UNITS, key=len, reverse=True))
_FOR_COUNT: Final = (
    r"\b(?:(?:(?:am|are|is|'m|'re|will be) (?:away|off|out|in|at|on|here|home|abroad|sick|ill|without|unavailable|travell?ing|staying|visiting|closed)|stay(?:s|ing)?)\b[^.;!?]*? for (?:about |another )?"
    r"|(?:bin|bleibe|bleiben|ben|blijf)\b(?:[^.;!?]*? (?<!\bseit )(?<!\bvor )(?<!\bin )(?<!\bnach )(?<!\bal )(?<!\bover )| )(?:für )?"
    r"|(?:suis|sommes|reste|restons|estoy|estamos|me quedo|sono|siamo|resto|estou|fico)\b[^.;!?]*? (?:pendant|pour|durante|por|per) )"
    rf"(?P<count>\d{{1,3}}|{_COUNT_WORDS}) (?P<unit>{_UNIT_WORDS})\b(?! (?:old|alt|per|pro|ago|now))"
)
"""How long somebody is somewhere or away: what merely lasts so long ("the trial lasts for two weeks") does not end with it."""
_PAST: Final = (
    r"\b(?:was|were|had|did|went|came|got|took|met|saw|ran|made|found|lost|bought|sold|paid|sent|told|said|left|began|became|used to|have been|has been|(?<!is )(?<!are )(?<!am )(?<!be )(?<!stay )(?<!stays )\b\w{2,}ed"
    r"|war|waren|hatte|hatten|gewesen|(?:habe|haben|hat)\b(?=.*\b(?:ge\w+(?:t|en)|\w+iert|ver\w+t)\b)|wurde|était|étais|étions|avait|(?:ai|avons)\b(?= (?:\w+ )?\w+(?:é|i|u)e?s?\b)|fue|estuve|estaba|estuvimos|era|ero|sono stat\w|(?:ho|abbiamo)\b(?= (?:\w+ )?\w+[aiu]to\b)|(?:heb|hebben)\b(?=.*\bge\w+)|был\w*|geweest|foi|estive|estava)\b"
)
_HABIT: Final = r"\b(?:every|each|always on|usually|normally|yearly|annually|monthly|weekly|daily|jede\w*|chaque|toujours|cada|ogni|elke|todo\w*|season|birthday|anniversary|geburtstag|anniversaire|cumpleaños|compleanno|verjaardag|aniversário|born)\b"
_START: Final = (
    r"\b(?:from|since|starting|beginning|as of|effective|by|after|before|not|ab|seit|dès|depuis|desde|a partir de|da|dal|vanaf|sinds|von|guten|am|jeden|por la|de la|la)"
    r"(?: the| end of)? (?=(?:today|tonight|tomorrow|this|next|heute|morgen|diese|nächste|demain|aujourd'hui|cette|mañana|hoy|esta|domani|oggi|questa|vandaag|deze|hoje|amanhã))"
)
_LASTING: Final = (
    r"\b(?:mov\w+|marr\w+|wedding|adopt\w*|buy\w*|turns?|turning|start\w*|begin\w*|launch\w*|switch\w*|quit\w*|retir\w*|graduat\w*|chang\w*|becom\w+|born|birthday|anniversary|leav\w+ (?:the|my) (?:job|company)"
    r"|deadline|due|decid\w*|will be \d+|ziehe\w*|heirat\w*|beginn\w*|déménag\w*|mari\w+|commenc\w*|mud\w+|cas\w+|empiez\w+|trasfer\w+|spos\w+|inizi\w+|verhui\w+|trouw\w*|begint|come[çc]\w*)\b"
)
"""What happens on a day and stays so: the day's end does not end it."""
_RECENT_DAYS: Final = 90
"""A day without a year that lies so little back may be past or a year ahead: no end follows from it."""


@lru_cache(maxsize=4096)
def find_end(text: str, said_at: datetime) -> datetime | None:
    """The last second of the last day on which a statement holds; None where its words give none.

    Args:
        text: The statement, as it was said.
        said_at: When, aware.
    """
    lowered = " ".join(text.lower().replace("\u2019", "'").split())
    said_on = said_at.astimezone(UTC).date()
    if compile_pattern(_HABIT).search(lowered):
        return None
    found = (*_list_until(lowered, said_on), *_list_spans(lowered, said_on), *_list_wide(lowered, said_on))
    days = [day for day in found if day is not None]
    return _close(max(days)) if days else None


def _list_wide(lowered: str, said_on: date) -> Iterator[date]:
    return iter(()) if lowered.isascii() else list_wide_ends(lowered, said_on)


def _close(day: date) -> datetime:
    return datetime.combine(day, time(23, 59, 59), tzinfo=UTC)


def _list_until(lowered: str, said_on: date) -> Iterator[date | None]:
    """The ends that are written as ends: "until ...", "from ... to ...", "for the next ..."."""
    is_past = compile_pattern(_PAST).search(lowered) is not None
    for match in compile_pattern(_UNTIL).finditer(lowered):
        found = compile_pattern(_AFTER_UNTIL).match(lowered, match.end())
        if found is None and any(end in match[0] for end in _END_WORDS):
            found = compile_pattern(_PERIOD_END).match(lowered, match.end())
        if found is not None and not is_past:
            yield _read_day(found, said_on)
    for pattern in _RANGES:
        if not is_past and (found := compile_pattern(pattern).search(lowered)) is not None:
            yield _read_date(found, said_on)
    if not is_past and (found := compile_pattern(_NEXT_COUNT).search(lowered)) is not None:
        count = found["count"] or found["count2"] or "1"
        if count != "few":
            days = (_COUNTS.get(count) or int(count)) * _UNITS[found["unit"] or found["unit2"]]
            yield _shift(said_on, days)
    if not is_past and (found := compile_pattern(_FOR_COUNT).search(lowered)) is not None:
        yield _shift(said_on, (_COUNTS.get(found["count"]) or int(found["count"])) * _UNITS[found["unit"]])
    if not is_past and (found := compile_pattern(_REST).search(lowered)) is not None:
        yield _read_day(found, said_on)


def _list_spans(lowered: str, said_on: date) -> Iterator[date | None]:
    """The days and weeks to which all of a statement is bound: "tomorrow", "this week"."""
    if (
        compile_pattern(_PAST).search(lowered)
        or compile_pattern(_LASTING).search(lowered)
        or compile_pattern(_START).search(lowered)
    ):
        return
    for match in compile_pattern(_BOUND).finditer(lowered):
        before = lowered[: match.start()]
        if not compile_pattern(_UNTIL + "$").search(before):
            yield _read_day(match, said_on)


_END_WORDS: Final = ("end", "fin", "a fine")
_AFTER_UNTIL: Final = f"(?:{_DATE}|{_PERIOD}|{_WEEKDAY}|{_NEAR_DAY}|{_SPAN})"
_BOUND: Final = rf"(?<!\w)(?:{_NEAR_DAY}|{_SPAN})"


def _read_day(found: re.Match[str], said_on: date) -> date | None:
    """The last day of what is named."""
    got = {name: value for name, value in found.groupdict().items() if value}
    week_left = 6 - said_on.weekday()
    if "weekday" in got:
        return _find_weekday(_DAYS[got["weekday"]], said_on, is_next="next" in got)
    if "month5" in got or "year6" in got:
        return _end_period(
            _MONTHS.get(got.get("month5", ""), 12), int(got.get("year5") or got.get("year6") or 0), said_on
        )
    shifts = {
        "today": 0,
        "tomorrow": 1,
        "overmorrow": 2,
        "this_week": week_left,
        "weekend": week_left,
        "next_week": week_left + 7,
    }
    for name, days in shifts.items():
        if name in got:
            return _shift(said_on, days)
    if "this_month" in got:
        return _end_period(said_on.month, said_on.year, said_on)
    return date(said_on.year, 12, 31) if "this_year" in got else _read_date(found, said_on)


def _shift(day: date, count: int) -> date | None:
    try:
        return day + timedelta(days=count)
    except OverflowError:
        return None


def _find_weekday(weekday: int, said_on: date, *, is_next: bool) -> date | None:
    """The next such day behind the one on which it was said; "next Friday" is one of the week after, where both may be meant."""
    ahead = (weekday - said_on.weekday() - 1) % 7 + 1
    return _shift(said_on, ahead + 7 if is_next and said_on.weekday() + ahead <= 6 else ahead)  # noqa: PLR2004  (Sunday)


def _read_date(found: re.Match[str], said_on: date) -> date | None:
    got = {name.rstrip("0123456789"): value for name, value in found.groupdict().items() if value}
    month = int(got["number"]) if "number" in got else _MONTHS[got["month"]]
    return _place(int(got.get("year", 0)), month, int(got["day"]), said_on)


def _place(year: int, month: int, day: int, said_on: date) -> date | None:
    """A day of a year, of the coming one where none is written; None for a day that may just be past."""
    try:
        if year:
            found = date(year, month, day)
            return found if found >= said_on else None
        found = date(said_on.year, month, day)
        if found >= said_on:
            return found
        return date(said_on.year + 1, month, day) if (said_on - found).days > _RECENT_DAYS else None
    except ValueError:
        return None


def _end_period(month: int, year: int, said_on: date) -> date | None:
    """The last day of a month, of the coming one where no year is written."""
    for at in (year,) if year else (said_on.year, said_on.year + 1):
        last = date(at + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        if last >= said_on:
            return (
                last
                if year or at == said_on.year or (said_on - last.replace(year=said_on.year)).days > _RECENT_DAYS
                else None
            )
    return None
