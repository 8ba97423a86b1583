"""The verbs that say when something ends or somebody leaves: "my contract ends on 6 March", "the milk runs out in 3 days".

A new wording is one row with an example; `tests/unit/core/text/test_end_verbs.py` tries each. The day must stand
directly behind the verb: "the class ends at 6" and "the course ends with an exam" name none.

Source: own lists.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from everfold.core.text.end_days import AFTER_UNTIL, COUNT, PERIOD_END, UNIT, SaidOn, list_days, read_day, shift
from everfold.core.text.patterns import compile_pattern


class EndVerb(NamedTuple):
    """One wording.

    Attributes:
        wording: A pattern, in lower case.
        example: A statement with it, said on Monday, 3 March 2031, that holds through 6 March.
        behind: What must stand behind the day.
    """

    wording: str
    example: str
    behind: str = ""


END_VERBS: Final[tuple[EndVerb, ...]] = (
    EndVerb("ends?", "My contract ends on 6 March."),
    EndVerb("is ending", "My contract is ending on 6 March."),
    EndVerb("expires?", "My passport expires 2031-03-06."),
    EndVerb("is expiring", "My passport is expiring on 6 March."),
    EndVerb("runs? out", "My permit runs out in 3 days."),
    EndVerb("lapses?", "My insurance lapses on Thursday."),
    EndVerb("finish(?:es)?", "My course finishes on Thursday."),
    EndVerb("is over", "My course is over on Thursday."),
    EndVerb("leaves?", "My sister leaves on Thursday."),
    EndVerb("is leaving", "My sister is leaving on Thursday."),
    EndVerb("departs?", "My sister departs on Thursday."),
    EndVerb("checks? out", "My guest checks out on Thursday."),
    EndVerb("(?:go(?:es)? home|fl(?:y|ies) (?:home|back))", "My sister flies home on Thursday."),
    EndVerb("ende[nt]+", "Mein Vertrag endet am 6. März."),
    EndVerb("l(?:äuft|aufen)", "Mein Pass läuft in 3 Tagen ab.", " (?:ab|aus)\\b"),
    EndVerb("reis(?:e|t|en)", "Meine Schwester reist am Donnerstag ab.", " ab\\b"),
    EndVerb(
        "fähr(?:t|en)", "Meine Schwester fährt am Donnerstag heim.", " (?:ab|heim|weg|wieder|zurück|nach hause)\\b"
    ),
    EndVerb("(?:se termine|prend fin|finit)", "Mon contrat se termine le 6 mars."),
    EndVerb("(?:expire|s'achève)", "Mon passeport expire dans 3 jours."),
    EndVerb("(?:re)?part", "Ma sœur part jeudi."),
    EndVerb("(?:termina|acaba|finaliza)", "Mi contrato termina el 6 de marzo."),
    EndVerb("(?:caduca|vence|expira)", "Mi pasaporte caduca en 3 días."),
    EndVerb("(?:se va|se marcha)", "Mi hermana se va el jueves."),
    EndVerb("(?:finisce|si conclude)", "Il mio contratto finisce il 6 marzo."),
    EndVerb("scade", "Il mio passaporto scade tra 3 giorni."),
    EndVerb("(?:ri)?parte", "Mia sorella parte giovedì."),
    EndVerb("eindigt", "Mijn contract eindigt op 6 maart."),
    EndVerb("verloopt", "Mijn paspoort verloopt over 3 dagen."),
    EndVerb("loopt", "Mijn contract loopt op 6 maart af.", " af\\b"),
    EndVerb("vertrekt", "Mijn zus vertrekt donderdag."),
    EndVerb("(?:vai embora|parte)", "Minha irmã vai embora na quinta."),
    EndVerb("(?:заканчивается|кончается|истекает)", "Мой договор заканчивается 6 марта."),
)
END_VERB: Final = rf"(?<!\w)(?:{'|'.join(one.wording for one in END_VERBS)})(?!\w)"
_BEHIND: Final = tuple((one.wording, one.behind) for one in END_VERBS if one.behind)
_TO_DAY: Final = r" (?:(?:on|at|in|by|am|im|an|le|en|au|el|il|a|op|em|no|na)(?: the)?(?: end of| ende)? )?"
_TO_COUNT: Final = rf" (?:in|within|dans|en|dentro de|tra|fra|over|em) (?:about )?{COUNT} {UNIT}\b"
_RECURS: Final = (
    r"\b(?:years?|seasons?|semesters?|weeks?|weekends?|months?|quarters?|days?|jahr|woche|année|semaine|año|semana|anno|settimana|jaar|week|ano|train|bus|ferry"
    r"|zug|bahn|fähre|autobús|tren|treno|trein|trem)\b"
)
"""What ends or leaves again and again; of it no day is the last."""
_MANY: Final = r"\b(?:tokens?|sessions?|links?|cookies?|caches?|entr(?:y|ies)|keys?|passwords?|codes?|invit\w+)\b"
"""What has a lifetime: "the token expires in 3 days" tells how long each one lives."""


def list_verb_ends(clause: str, said: SaidOn) -> Iterator[date]:
    """The days on which a clause in lower case says that something ends, and those that it names behind them."""
    for verb in compile_pattern(END_VERB).finditer(clause):
        subject = clause[: verb.start()].strip()
        if subject and compile_pattern(_RECURS).search(subject) is None:
            found = _find_counted(clause, verb, said, subject) or _find_day(clause, verb, said)
            if found is not None:
                yield found.day
                yield from list_days(clause, found.at, said)


class _Found(NamedTuple):
    """A day, and where its words end."""

    day: date
    at: int


def _find_counted(clause: str, verb: re.Match[str], said: SaidOn, subject: str) -> _Found | None:
    """The day so many days behind a verb."""
    found = compile_pattern(_TO_COUNT).match(clause, verb.end())
    if found is None or compile_pattern(_MANY).search(subject) is not None:
        return None
    return _place(clause, verb, found.end(), shift(said, found["count"], found["unit"]))


def _find_day(clause: str, verb: re.Match[str], said: SaidOn) -> _Found | None:
    """The day that stands directly behind a verb."""
    lead = compile_pattern(_TO_DAY).match(clause, verb.end())
    if lead is None:
        return None
    found = compile_pattern(AFTER_UNTIL).match(clause, lead.end())
    if found is None and "end" in lead[0]:
        found = compile_pattern(PERIOD_END).match(clause, lead.end())
    return None if found is None else _place(clause, verb, found.end(), read_day(found, said))


def _place(clause: str, verb: re.Match[str], at: int, day: date | None) -> _Found | None:
    """A day, where what the verb needs stands behind it."""
    behind = next((more for wording, more in _BEHIND if compile_pattern(wording).fullmatch(verb[0])), "")
    return None if day is None or compile_pattern(behind).match(clause, at) is None else _Found(day, at)
