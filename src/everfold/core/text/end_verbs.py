"""The verbs that say when something ends or a person leaves: "my contract ends on 6 March", "the milk runs out in 3 days".

A new wording is one row with an example; `tests/unit/core/text/test_end_verbs.py` tries each. The day must stand
directly behind the verb: "the class ends at 6" and "the course ends with an exam" name none.

Source: own lists.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from everfold.core.text.end_days import AFTER_UNTIL, COUNT, PERIOD_END, UNIT, SaidOn, list_days, read_day, shift
from everfold.core.text.end_subjects import LEAVERS, counts_down, leaves, names_one
from everfold.core.text.patterns import compile_pattern


class EndVerb(NamedTuple):
    """One wording.

    Attributes:
        wording: A pattern, in lower case.
        example: A statement with it, said on Monday, 3 March 2031, that holds through 6 March.
        behind: What must stand behind the day.
        leaver: Who leaves, for a verb of leaving: a pattern.
        owner: What its subject must hold, where a verb of another language is written alike.
        is_expiry: What it ends does not do so again each week or year.
    """

    wording: str
    example: str
    behind: str = ""
    leaver: str = ""
    owner: str = ""
    is_expiry: bool = False


END_VERBS: Final[tuple[EndVerb, ...]] = (
    EndVerb("(?:ends|will end)", "My contract ends on 6 March."),
    EndVerb("is ending", "My contract is ending on 6 March."),
    EndVerb("(?:expires|will expire)", "My passport expires 2031-03-06.", is_expiry=True),
    EndVerb("is expiring", "My passport is expiring on 6 March.", is_expiry=True),
    EndVerb("(?:runs|will run) out", "My permit runs out in 3 days.", is_expiry=True),
    EndVerb("(?:lapses|will lapse)", "My insurance lapses on Thursday.", is_expiry=True),
    EndVerb("(?:finishes|will finish)", "My course finishes on Thursday."),
    EndVerb("is over", "My course is over on Thursday."),
    EndVerb("leaves", "My sister leaves on Thursday.", leaver=LEAVERS["english_one"]),
    EndVerb("leave", "I leave on Thursday.", leaver=LEAVERS["english_more"]),
    EndVerb("is leaving", "My sister is leaving on Thursday.", leaver=LEAVERS["english_one"]),
    EndVerb("departs", "My sister departs on Thursday.", leaver=LEAVERS["english_one"]),
    EndVerb("checks out", "My guest checks out on Thursday.", leaver=LEAVERS["english_one"]),
    EndVerb("flies (?:home|back)", "My sister flies home on Thursday.", leaver=LEAVERS["english_one"]),
    EndVerb("endet", "Mein Vertrag endet am 6. März."),
    EndVerb("läuft", "Mein Pass läuft in 3 Tagen ab.", " (?:ab|aus)\\b", is_expiry=True),
    EndVerb("reis(?:e|t|en)", "Meine Schwester reist am Donnerstag ab.", " ab\\b", LEAVERS["german"]),
    EndVerb(
        "fähr(?:t|en)",
        "Meine Schwester fährt am Donnerstag heim.",
        " (?:ab|heim|weg|wieder|zurück|nach hause)\\b",
        LEAVERS["german"],
    ),
    EndVerb("(?:se termine|prend fin|finit)", "Mon contrat se termine le 6 mars."),
    EndVerb(
        "(?:expire|s'achève)",
        "Mon passeport expire dans 3 jours.",
        owner=r"\b(?:mon|ma|notre|son|sa|ce|cette|le|la|l)\b",
        is_expiry=True,
    ),
    EndVerb("(?:re)?part", "Ma sœur part jeudi.", leaver=LEAVERS["french"]),
    EndVerb("(?:termina|acaba|finaliza)", "Mi contrato termina el 6 de marzo."),
    EndVerb("(?:caduca|vence|expira)", "Mi pasaporte caduca en 3 días.", is_expiry=True),
    EndVerb("(?:se va|se marcha)", "Mi hermana se va el jueves.", leaver=LEAVERS["spanish"]),
    EndVerb("(?:finisce|si conclude)", "Il mio contratto finisce il 6 marzo."),
    EndVerb("scade", "Il mio passaporto scade tra 3 giorni.", is_expiry=True),
    EndVerb("(?:ri)?parte", "Mia sorella parte giovedì.", leaver=LEAVERS["italian"]),
    EndVerb("eindigt", "Mijn contract eindigt op 6 maart."),
    EndVerb("verloopt", "Mijn paspoort verloopt over 3 dagen.", is_expiry=True),
    EndVerb("loopt", "Mijn contract loopt op 6 maart af.", " af\\b"),
    EndVerb("vertrekt", "Mijn zus vertrekt donderdag.", leaver=LEAVERS["dutch"]),
    EndVerb("(?:vai embora|parte)", "Minha irmã vai embora na quinta.", leaver=LEAVERS["portuguese"]),
    EndVerb("(?:заканчивается|кончается|истекает)", "Мой договор заканчивается 6 марта."),
)
END_VERB: Final = rf"(?<!\w)(?:{'|'.join(one.wording for one in END_VERBS)})(?!\w)"
_TO_DAY: Final = r" (?:(?:on|at|in|by|am|im|an|le|en|au|el|il|a|op|em|no|na)(?: the)?(?: end of| ende)? )?"
_TO_COUNT: Final = rf" (?:in|within|dans|en|dentro de|tra|fra|over|em) (?:about )?{COUNT} {UNIT}\b"


class _Found(NamedTuple):
    """A day, and where its words end."""

    day: date
    at: int
    is_counted: bool


def list_verb_ends(clause: str, said: SaidOn) -> Iterator[date]:
    """The days on which a clause in lower case says that one thing ends or a person leaves, and those that it names behind them."""
    for verb in compile_pattern(END_VERB).finditer(clause):
        subject = clause[: verb.start()].strip(" ,:;")
        found = _find_counted(clause, verb, said) or _find_day(clause, verb, said)
        rows = (one for one in END_VERBS if compile_pattern(one.wording).fullmatch(verb[0]))
        if found is not None and any(_fits(row, subject, clause, verb, found) for row in rows):
            yield found.day
            yield from list_days(clause, found.at, said)


_EACH_TIME: Final = r" (?:mornings?|afternoons?|evenings?|nights?|because|since|after|at \d)"
"""Behind a day: it may be each one, or counted from something else."""


def _fits(row: EndVerb, subject: str, clause: str, verb: re.Match[str], found: _Found) -> bool:
    """Whether a wording may be said of a subject and a day, with what must stand behind it."""
    is_of_language = compile_pattern(row.owner).search(subject) is not None
    if not is_of_language or compile_pattern(row.behind).match(clause, found.at) is None:
        return False
    if compile_pattern(_EACH_TIME).match(clause, found.at) is not None:
        return False
    day = clause[verb.end() : found.at]
    if row.leaver:
        return leaves(subject, row.leaver, day)
    if found.is_counted:
        return verb[0] != "is over" and counts_down(subject)
    return names_one(subject, day, is_expiry=row.is_expiry)


def _find_counted(clause: str, verb: re.Match[str], said: SaidOn) -> _Found | None:
    """The day so many days behind a verb."""
    found = compile_pattern(_TO_COUNT).match(clause, verb.end())
    day = None if found is None else shift(said, found["count"], found["unit"])
    return None if found is None or day is None else _Found(day, found.end(), is_counted=True)


def _find_day(clause: str, verb: re.Match[str], said: SaidOn) -> _Found | None:
    """The day that stands directly behind a verb."""
    lead = compile_pattern(_TO_DAY).match(clause, verb.end())
    if lead is None:
        return None
    found = compile_pattern(AFTER_UNTIL).match(clause, lead.end())
    if found is None and "end" in lead[0]:
        found = compile_pattern(PERIOD_END).match(clause, lead.end())
    day = None if found is None else read_day(found, said)
    return None if found is None or day is None else _Found(day, found.end(), is_counted=False)
