"""The days that words name, and the last of them: dates, days of the week, "tomorrow", "next week", "the end of the month".

Each reading takes the day on which it was said, and gives None for a day of which the year cannot be told. Where two days
may be meant ("03/01/2032"), it gives the later one.

Source: own rules; each language's examples are tried in `tests/unit/core/text/test_ends.py`.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from everfold.core.text.patterns import compile_pattern

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
    "wednesday|mittwoch|mercredi|miércoles|mercoledì|woensdag|quarta-feira|quarta|среды|среду",
    "thursday|donnerstag|jeudi|jueves|giovedì|donderdag|quinta-feira|quinta|четверга",
    "friday|freitag|vendredi|viernes|venerdì|vrijdag|sexta-feira|sexta|пятницы|пятницу",
    "saturday|samstag|sonnabend|samedi|sábado|sabato|zaterdag|субботы|субботу",
    "sunday|sonntag|dimanche|domingo|domenica|zondag|воскресенья",
)
_MONTHS: Final = {name: at for at, names in enumerate(_MONTH_NAMES, 1) for name in names.split("|")}
_SHORT_DAY_NAMES: Final = ("mon", "tues|tue", "wed", "thurs|thur|thu", "fri", "sat", "sun")
_CLIPPED_DAY_NAMES: Final = ("mo|ma", "di", "mi|wo", "do", "fr|vr", "sa|za")
_DAYS: Final = {
    name: at
    for names in (_DAY_NAMES, _SHORT_DAY_NAMES, _CLIPPED_DAY_NAMES)
    for at, day in enumerate(names)
    for name in day.split("|")
}
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_DATE: Final = (
    r"(?:(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?(?: of| de| d')? ?{_MONTH}\b\.?(?:,?(?: de)? (?P<year2>\d{{4}}))?"
    rf"|{_MONTH.replace('month', 'month2')}\b\.? (?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<year3>\d{{4}}))?"
    r"|(?P<day4>\d{1,2})\.(?P<number4>\d{1,2})\.(?P<year4>\d{4})?"
    r"|(?P<left>\d{1,2})/(?P<right>\d{1,2})(?:/(?P<year5>\d{4}))?(?![\d/]))"
    r"(?! (?:street|st|road|rd|avenue|ave|lane|drive|way|square|place|court|stra(?:ß|ss)e|platz|weg|gasse)\b)"
)
_PERIOD: Final = rf"(?:{_MONTH.replace('month', 'period_month')}\b(?:(?: of| de)? (?P<period_year>\d{{4}}))?|(?P<period_year2>(?:19|20)\d\d)\b)"
_WEEKDAY: Final = (
    r"(?:(?:on|this|coming|diesen|ce|este|questo|deze) )?(?P<next>next |nächsten |kommenden |volgende )?"
    rf"(?P<weekday>{'|'.join((*_DAY_NAMES, *_SHORT_DAY_NAMES))})\b(?! ?s\b)"
    rf"|(?:(?<=bis )|(?<=tot ))(?P<weekday2>{'|'.join(_CLIPPED_DAY_NAMES)})\b"
)
_NEAR_DAY: Final = (
    r"(?P<today>today|tonight|this (?:morning|afternoon|evening)|heute|aujourd'hui|ce soir|esta (?:tarde|noche|noite)|hoy(?! en día)|oggi|stasera|vandaag|vanavond|hoje(?! em dia)|сегодня)\b"
    r"|(?P<overmorrow>the day after tomorrow|übermorgen|après-demain|pasado mañana|dopodomani|overmorgen|depois de amanhã|послезавтра)\b"
    r"|(?P<tomorrow>tomorrow|morgen|demain|mañana|domani|amanhã|завтра)\b"
)
_SPAN: Final = (
    r"(?P<this_week>(?:this|diese[r]?|cette|esta|questa|deze|essa) (?:week|woche|semaine|semana|settimana)|(?:на )?этой неделе)\b"
    r"|(?P<weekend>(?:this|(?:the )?coming|dieses|kommendes|ce|este|questo|dit|komend) (?:weekend|wochenende|week-end|fin de semana|fine settimana))\b"
    r"|(?P<next_week>(?:next|(?:the )?(?:up)?coming|nächste[nr]?|kommende[nr]?|volgende|komende) (?:week|woche)|la semaine (?:prochaine|à venir)"
    r"|la próxima semana|la semana que viene|la (?:prossima settimana|settimana (?:prossima|che viene))|a próxima semana|semana que vem|следующей неделе)\b"
    r"|(?P<this_month>(?:this|diese[nmr]?|ce|este|questo|deze|esse) (?:month|monat|mois|mes|mese|maand|mês)|(?:в )?этом месяце)\b"
    r"|(?P<quarter>(?:this|dieses|ce|este|questo|dit) (?:quarter|quartal|trimestre|kwartaal))\b"
    r"|(?P<this_year>(?:this|dieses|cette|este|quest'|dit|esse) ?(?:year|jahr|année|año|anno|jaar|ano))\b"
)
_HOLIDAY: Final = (
    r"(?P<christmas>christmas|xmas|weihnachten|noël|navidad|natale|kerst(?:mis)?|(?:o )?natal|рождества)\b(?! (?:tree|party|cake))"
    r"|(?P<new_year>new year|neujahr|silvester|(?:le )?nouvel an|año nuevo|capodanno|nieuwjaar|(?:o )?ano novo|нового года)\b"
)
_AFTER_PERIOD: Final = (
    r"(?P<weekend2>weekend|wochenende|week-end|fin de semana|fine settimana)\b"
    r"|(?P<next_month>next month|nächsten monat|le mois prochain|(?:el )?próximo mes|(?:il )?prossimo mese|volgende maand|(?:o )?próximo mês)\b"
    r"|(?P<next_year>next year|nächstes jahr|l'année prochaine|(?:el )?próximo año|(?:il )?prossimo anno|volgend jaar|(?:o )?próximo ano)\b"
    r"|q(?P<quarter_number>[1-4])\b(?:,? (?P<period_year3>\d{4}))?"
)
"""What ends a statement behind "until" only: "next month I have time" says nothing of the month after."""
UNTIL: Final = (
    r"\b(?:until|till|til|through|up to|bis(?: zum| einschließlich| einschl\.)?|jusqu'(?:au|à|en)|hasta(?: el)?|fino (?:alla fine del(?:la)?|al|a)|tot(?: en met)?|até(?: o| a)?|до)"
    r"(?: and including)?(?: the)?(?: end of| ende| la fin de| fin de| a fine)?"
    r"(?: (?:eod|cob|close of business|late|early|mid|noon|midday|midnight|(?:\d{1,2}(?::\d\d)?|one|two|three) ?(?:am|pm|uhr|o'clock)|\d{1,2}:\d\d)(?: on)?)?[ -]"
)
REST_OF_DAY: Final = (
    r"(?P<today>\b(?:for the rest of (?:the|this) (?:day|morning|afternoon|evening)|für den rest des (?:tages|abends)|pour le reste (?:de la journée|du jour)"
    r"|(?:por )?el resto del día|per il resto (?:della giornata|del giorno)|voor de rest van de dag|pelo resto do dia))\b"
)
REST: Final = (
    r"(?:\brest (?:of (?:the|this)|des|der|du|van de|van het) |\bresto d(?:el|ella|o|a) )(?:(?P<this_week>week|woche|semaine|settimana|semana)|(?P<this_month>month|monats|mois|mese|mes|maand|mês)"
    r"|(?P<this_year>year|jahres|anno|año|jaar|ano))\b"
)
PERIOD_END: Final = (
    r"(?:the|des|der|de la|de|du|del|della|do|da|van de|van het)? ?(?:(?P<this_week>week|woche|semaine|settimana|semana)|(?P<this_month>month|monats|mois|mese|mes|maand|mês)"
    r"|(?P<this_year>year|jahres|année|anno|año|jaar|ano)|(?P<quarter>quarter|quartals|trimestre|kwartaal))\b"
)
_COUNTS: Final = {
    **dict.fromkeys(("one", "a", "eine", "einen", "une", "un", "una", "een", "uma", "um"), 1),
    **dict.fromkeys(("two", "zwei", "deux", "dos", "due", "twee", "duas", "dois"), 2),
    **dict.fromkeys(("three", "drei", "trois", "tres", "tre", "drie", "três"), 3),
    **dict.fromkeys(("four", "vier", "quatre", "cuatro", "quattro", "quatro"), 4),
    **dict.fromkeys(("five", "fünf", "cinq", "cinco", "cinque", "vijf"), 5),
    **dict.fromkeys(("six", "sechs", "seis", "sei", "zes"), 6),
    **dict.fromkeys(("couple of", "a couple of", "paar", "ein paar"), 3),
    **dict.fromkeys(("few", "a few"), 5),
    "seven": 7,
    "ten": 10,
}
"""What may be more is counted as more: a couple as three, a few as five."""
_UNITS: Final = {
    name: count
    for names, count in (
        ("hour hours", 0),
        ("day days tag tage tagen jour jours día días giorno giorni dag dagen dia dias", 1),
        ("week weeks woche wochen semaine semaines semana semanas settimana settimane weken", 7),
        ("fortnight", 14),
        ("month months monat monate mois mes meses mese mesi maand maanden mês", 31),
    )
    for name in names.split()
}
COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})"
UNIT: Final = rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
AFTER_UNTIL: Final = f"(?:{_DATE}|{_PERIOD}|{_WEEKDAY}|{_NEAR_DAY}|{_SPAN}|{_HOLIDAY}|{_AFTER_PERIOD})"
BOUND: Final = rf"(?<!\w)(?:{_NEAR_DAY}|{_SPAN})"
LAST: Final = f"(?:{_DATE}|{_HOLIDAY})"
"""What may close a range."""
_WEEKDAY_NAME: Final = "|".join((*_DAY_NAMES, *_SHORT_DAY_NAMES))
WEEKDAYS: Final = (
    r"(?<!\w)(?:(?:from|between|von|du|de|da|van|с) )*(?P<this>this |the coming |diesen |ce |este |questo |deze )?(?P<next>next |nächsten |kommenden |volgende )?"
    rf"(?P<first>{_WEEKDAY_NAME})(?: ?[-\u2013] ?| (?:to|until|till|through|and|bis|au|a|tot(?: en met)?|по) )(?P<last>{_WEEKDAY_NAME})\b(?! ?s\b)"
)
"""A range of days of the week, which may be one of every week."""
FIRST: Final = re.sub(r"\?P<\w+>", "?:", _DATE)
"""The date that may open one; its groups have no names."""
_RECENT_DAYS: Final = 90
"""A day without a year that lies so little back may be past or a year ahead: no end follows from it."""
_LATEST_ZONE: Final = timedelta(hours=14)
_MONTHS_COUNT: Final = 12
_DAY_HOURS: Final = 24


class SaidOn(NamedTuple):
    """The day on which something was said.

    Attributes:
        day: In UTC.
        latest: In the zone that is first to reach it: the latest day that a speaker without a known zone may mean by "today".
    """

    day: date
    latest: date


def read_moment(said_at: datetime) -> SaidOn:
    """The days that a moment may fall on."""
    moment = said_at.astimezone(UTC)
    try:
        return SaidOn(moment.date(), (moment + _LATEST_ZONE).date())
    except OverflowError:
        return SaidOn(moment.date(), moment.date())


def read_day(found: re.Match[str], said: SaidOn) -> date | None:
    """The last day of what a match of one of these patterns names."""
    got = {name.rstrip("0123456789"): value for name, value in found.groupdict().items() if value}
    if "day" in got:
        month = int(got["number"]) if "number" in got else _MONTHS[got["month"]]
        return _place(int(got.get("year", 0)), month, int(got["day"]), said.day)
    if "left" in got:
        return _read_slashes(int(got["left"]), int(got["right"]), int(got.get("year", 0)), said.day)
    if "weekday" in got:
        return _find_weekday(_DAYS[got["weekday"]], said.day, is_next="next" in got)
    if "christmas" in got:
        return _find_coming(12, 26, said.day)
    if "new_year" in got:
        return _find_coming(1, 1, said.day)
    if "period_month" in got or "period_year" in got or "quarter_number" in got:
        last_month = 3 * int(got.get("quarter_number", 4))
        month = _MONTHS.get(got.get("period_month", ""), last_month)
        return _end_period(month, int(got.get("period_year", 0)), said.day)
    return _end_span(got, said.latest)


def list_days(text: str, start: int, said: SaidOn) -> list[date]:
    """The last days of all that a text names from a place on."""
    found = compile_pattern(AFTER_UNTIL).finditer(text, start)
    return [
        day
        for one in found
        if text[one.start() - 1 : one.start()].strip() == "" and (day := read_day(one, said)) is not None
    ]


def is_of_one_week(found: re.Match[str]) -> bool:
    """Whether a match of `WEEKDAYS` is of this or the next week by its own words."""
    return found["this"] is not None or found["next"] is not None


def read_weekdays(found: re.Match[str], said: SaidOn) -> date | None:
    """The last day of a match of `WEEKDAYS`: of the range that begins with the next such day."""
    first = _find_weekday(_DAYS[found["first"]], said.day, is_next=found["next"] is not None)
    return None if first is None else _find_weekday(_DAYS[found["last"]], first, is_next=False)


def shift(said: SaidOn, count: str, unit: str) -> date | None:
    """The day so many units after a statement."""
    number = _COUNTS.get(count) or int(count)
    if unit.startswith("hour"):
        return _shift(said.day, -(-number // _DAY_HOURS))
    return _shift(said.day, number * _UNITS[unit])


def _end_span(got: Mapping[str, str], said_on: date) -> date | None:
    """The last day of a day, week, month or year that is named by its distance."""
    week_left = 6 - said_on.weekday()
    for name, days in (
        ("today", 0),
        ("tomorrow", 1),
        ("overmorrow", 2),
        ("this_week", week_left),
        ("weekend", week_left),
    ):
        if name in got:
            return _shift(said_on, days)
    if "next_week" in got:
        return _shift(said_on, week_left + 7)
    months = {"this_month": 0, "next_month": 1, "quarter": 2 - (said_on.month - 1) % 3}
    for name, count in months.items():
        if name in got:
            years, month = divmod(said_on.month - 1 + count, _MONTHS_COUNT)
            return _end_period(month + 1, said_on.year + years, said_on)
    return _end_period(_MONTHS_COUNT, said_on.year + ("next_year" in got), said_on)


def _shift(day: date, count: int) -> date | None:
    try:
        return day + timedelta(days=count)
    except OverflowError:
        return None


def _find_weekday(weekday: int, said_on: date, *, is_next: bool) -> date | None:
    """The next such day behind the one on which it was said; "next Friday" is one of the week after, where both may be meant."""
    ahead = (weekday - said_on.weekday() - 1) % 7 + 1
    return _shift(said_on, ahead + 7 if is_next and said_on.weekday() + ahead <= 6 else ahead)  # noqa: PLR2004  (Sunday)


def _find_coming(month: int, day: int, said_on: date) -> date | None:
    return next(
        (found for year in (0, 1) if (found := _find_date(said_on.year + year, month, day)) and found >= said_on), None
    )


def _read_slashes(left: int, right: int, year: int, said_on: date) -> date | None:
    """The later of the days that "03/01/2032" may mean; without a year, only what can be read in one way is a day."""
    if not year and max(left, right) <= _MONTHS_COUNT:
        return None
    found = (_place(year, month, day, said_on) for month, day in ((left, right), (right, left)))
    return max((day for day in found if day is not None), default=None)


def _place(year: int, month: int, day: int, said_on: date) -> date | None:
    """A day of a year, of the coming one where none is written; None for a day that may just be past."""
    found = _find_date(year or said_on.year, month, day)
    if found is None or found >= said_on:
        return found
    return _find_date(said_on.year + 1, month, day) if not year and (said_on - found).days > _RECENT_DAYS else None


def _find_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _end_period(month: int, year: int, said_on: date) -> date | None:
    """The last day of a month, of the coming one where no year is written; None for a month that may just be past."""
    last = _find_last(year or said_on.year, month)
    if last is None or last >= said_on:
        return last
    return _find_last(said_on.year + 1, month) if not year and (said_on - last).days > _RECENT_DAYS else None


def _find_last(year: int, month: int) -> date | None:
    return next((day for at in (31, 30, 29, 28) if (day := _find_date(year, month, at)) is not None), None)
