"""The words of change: what says that something is not as it was, and a statement without what only surrounds it.

Source: own grammar, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""

import re
from functools import lru_cache
from typing import Final

from everfold.core.changes.given_up import join_titles, list_given_up, split_clauses
from everfold.core.clauses.assertions import (
    REMEMBERED_TEXTS,
    expand,
)
from everfold.core.clauses.slots import PAST_FORMS
from everfold.core.text.patterns import compile_pattern

CHANGED_WORDS: Final = (
    "moved pushed postponed rescheduled changed extended raised lowered renamed relocated migrated upgraded delayed shifted shortened increased reduced updated"
    " reassigned transferred switched bumped dropped rose went climbed fell grew grown rebooked slipped swapped promoted downgraded halved doubled cut upped"
    " tightened loosened handed adjusted trimmed expanded renewed refinanced revised corrected amended passed handed push move change raise extend rebook reschedule"
    " lifted reset scaled turned shrunk shrank stretched slashed hiked doubled tripled relicensed reparked re-parked renumbered"
    " lengthened altered rotated reprogrammed rewritten rewrote warmed cooled risen fallen sunk swelled reassessed rolled gave given dialled aktualisiert umgezogen umgestellt gestiegen gesunken gewechselt subido aumentado bajado cambiado aumentato salito sceso passato cambiato subiu aumentou passou baixou mudou augmenté baissé changé verplaatst verhoogd verlaagd перенесли переехал переехала"
)


CHANGE: Final = rf"(?<!\bthe )(?<!\bour )(?<!\bmy )\b(?:{'|'.join(CHANGED_WORDS.split())}|put (?:me|him|her|us|it) (?:up|down|back|on)|(?:put|brought) (?:[^,;!?]{{1,40}} )?(?:up|down|back|forward|off)|(?:am|are|is) (?:down|up)|(?:go|goes|going|gone) (?:up|down)(?= (?:from|to|by)\b)|(?:am|are|is)(?: being)? (?:moving|switching|changing)|^set|(?:had|has|have|need|needs|decided|agreed|asked|going|want|wants)(?: us| me| them)? to (?:trim|lower|increase|reduce|shorten|lengthen|postpone|delay|switch|rename|bump|adjust|move|push))\b"


CHANGED_TO: Final = rf"{CHANGE}[^;!?]*\b(?:to|until|till|through|into|auf|nach|in den|in die|à|au|a|para|al|на|alle|naar|tot) (?P<new>[^,;!?]+)"


_MARKS: Final = (
    r"\b(?:now|henceforth|effective (?:immediately|from|today|next)|but today|of late|so far|starting (?:on )?(?:next|today|tomorrow|\w+day)|so over|(?:is|are) (?:dead|history)|in truth|the (?:right|correct) (?:one|code|number|address|date|name|time)|set the record straight|slip of|mixed (?:it|them|that|up|the)|confused|outdated|typo|nvm|never ?mind|(?:lab|typing|my|an) error|silly me|my fault|change(?:[,:]| for\b| of plans?\b)|miscounted|misremembered|(?:come|grown|learne?[dt]) to|oh wait|erreur|errore|fehler|fout|ошибка|поправка|no more|enough of|from today|from tomorrow|on second thoughts?|(?:a|an)(?:other| different| new)|used to|in favou?r of|missed that one|instead|these days|currently|(?:gone|went|going) from|at the moment|for now|nowadays|lately|finally|just|by now|no longer|any ?more|as of|from now on|turned|new hours|painted|repainted|renamed|dyed|extension|upgrade[ds]?|delayed|after all|again|wieder|actually|mistaken|wrong"
    r"|sorry|meant|misread|oops|scratch|update|correct\w*|finalement|jetzt|nun|inzwischen|neuerdings|maintenant|désormais|ahora|adesso|nu|tegenwoordig|voortaan|agora|теперь)\b"
)


SOFT_MARKS: Final = re.compile(
    r"(?i)\b(?:now|henceforth|effective immediately|in fact|in truth|of late|(?<!^)today(?= my)|^today|instead|these days|currently|at the moment|for now|nowadays|lately|finally|just|by now|from now on|actually|starting|after all|finalement|jetzt|nun|inzwischen"
    r"|neuerdings|maintenant|désormais|ahora|adesso|nu|tegenwoordig|voortaan|agora|теперь)\b"
)
"""Words that only say that it is so now; a clause is compared without them."""


LEADS: Final = re.compile(
    r"(?i)^(?:since|as of|because of|starting|from|this|due to|after|for) (?:[^\s,]+ ){0,3}?[^\s,]+,? ?(?=\b(?:i|we|my|our|the|nous|je)\b)"
)


WHEN_CHANGED: Final = re.compile(
    r"(?i)\b(?:as of|since|starting|effective|from|last|this|on|in) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|week|month|year|season)(?= (?:i|we|my|our|the)\b|,)|\b(?:starting|as of|effective) (?:on )?(?:next )?\w+$|\b(?:last|this) \w+$|\b(?:a|two|three) \w+ ago\b"
)


DENIALS: Final = re.compile(
    r"\b(?:not|no longer|never|nicht|kein\w*|niet|geen|ne|(?<!is )(?<!are )(?<!has )(?<!have )no|non|não|не)\b",
    re.IGNORECASE,
)


FIRST_PERSON: Final = re.compile(
    r"\b(?:i|we|my|our|me|us|ich|wir|je|nous|yo|mi|io|ik|wij|eu|mein|unser|mon|notre|mio|mijn|meu|minha)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def says_change(newer: str) -> bool:
    """Whether a statement says itself that something is not as it was."""
    expanded = expand(newer)
    lowered = expanded.lower()
    if compile_pattern(CHANGE).search(lowered) or compile_pattern(_MARKS).search(lowered):
        return True
    return any(not all(word[:1].isdigit() for word in one.words) for one in list_given_up(expanded))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def tells_cause(told: str) -> bool:
    """Whether a statement tells beside one clause what has happened: that is how a change is told without a word for it."""
    if _BECAUSE.match(told):
        return True
    clauses = split_clauses(told)
    return len(clauses) > 1 and any(
        compile_pattern(_HAPPENED).search(clause.lower()) or not PAST_FORMS.isdisjoint(clause.lower().split())
        for clause in clauses
    )


_BECAUSE: Final = re.compile(
    r"(?i)(?:(?:from|as of|starting|effective) (?:next|today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|the)\b|after the|with the new|since|following|due to|because of|thanks to) "
)
_HAPPENED: Final = r"\b(?:has|have|had|was|were|did|got|could|would|can not|\w{3,}ed)\b"


@lru_cache(maxsize=REMEMBERED_TEXTS)
def prepare_statement(text: str) -> str:
    """A statement without what only opens or explains it, a phrase that leads it put behind."""
    told = _ALSO.sub("", join_titles(expand(text).strip()).strip(" ."))
    told = _DECIDED.sub(r"\1 ", _TAILS.sub("", _ASIDE.sub(" ", told)))
    told = _CORRECTED.sub("", _AGREED.sub("", told))
    if (led := _LED.match(told)) is not None:
        told = f"{led['rest']} {led['lead'][:1].lower()}{led['lead'][1:]}"
    return told


@lru_cache(maxsize=REMEMBERED_TEXTS)
def shorten_statement(text: str) -> str:
    """An older statement, prepared, without what only adds to it: when it holds by now, and another name for its last word.

    One that tells of a change is what is so since then: "we switched the store to Redis" is "the store is Redis".
    """
    told = " ".join(_APPOSITION.sub("", SOFT_MARKS.sub(" ", _SO.sub("", prepare_statement(text)))).split())
    found = next(filter(None, (compile_pattern(pattern).match(told) for pattern in _CHANGED_BEFORE)), None)
    return f"{found['thing']} is {found['new']}" if found else told


_SO: Final = re.compile(r"^[^,;]+, so (?=(?:the|my|our) [^,;]+ (?:is|are) [^,;]+$)")
_NEW_VALUE: Final = r"(?:from [^,;]+? )?to (?P<new>[^,;]+)$"
_CHANGED_BEFORE: Final = (
    r"(?i)(?:i|we|they) (?:have |had |just )*(?:switched|changed|migrated|converted|renamed|raised|lowered|extended|reset) (?P<thing>(?:the|our|my) [^,;]+?) "
    + _NEW_VALUE,
    r"(?i)(?P<thing>(?:the|my|our) [^,;]+?) (?:has |have |had |was |were |been |got |just )*(?:changed|switched|renamed|raised|lowered|extended|reset) "
    + _NEW_VALUE,
    (
        r"(?i)(?P<thing>(?:the|my|our) [^,;]+?) (?:has |have |had |was |were |been |got |just )*(?:moved|postponed|rescheduled|pushed|brought forward) (?:back |forward )?(?:from [^,;]+? )?"
        r"(?P<new>to (?=(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d))[^,;]+)$"
    ),
)


_APPOSITION: Final = re.compile(r", (?:the|a|an|my|our) [^,]+$")
CORRECTS: Final = re.compile(
    r"(?i)\b(?:wrong|mistaken?|correct(?:ion|ed)?|typo|record straight|slip|mixed|confused|mis(?:spoke|read|typed|remembered|counted)|meant|in fact|in truth|actually|error|oops|turn(?:s|ed) out)\b"
)
"""Words of a correction: what has happened may have happened otherwise."""
_CORRECTED: Final = re.compile(
    r"(?i)^(?:(?:it )?turn(?:s|ed) out(?: that)?|I meant(?: that)?|(?:that|this|it)(?: has)?(?: just| since)? changed[:,;]),? "
)
_ALSO: Final = re.compile(r"(?i)^(?:also|and),? (?=(?:i|we|my|our|the)\b)")
_AGREED: Final = re.compile(r"^(?:I|[Ww]e) (?:agreed|arranged|settled|decided|said)\b[^,;]*? that ")
_DECIDED: Final = re.compile(r"^(I|[Ww]e) (?:have )?(?:finally |just )?(?:decided|agreed|chosen|resolved) to ")
"""What was decided is what is so: "we decided to open on 3 March" tells when we open."""


_ASIDE: Final = re.compile(r", (?:who|which|whose) [^,]*, ")


_TAILS: Final = re.compile(
    r",? (?:because|although|even though|whereas|weil|obwohl|parce que|porque|perché|omdat) [^;]*?(?=, (?:so|it is|they are|he is|she is|now)\b|$)"
    r"|, (?:which|who|where) .*$"
)
"""Why something is so, or what else it is: the statement falls with what it is said of."""


_LED: Final = re.compile(
    r"(?P<lead>(?:For|At|In|On|After|With|During|From) (?:the |my |our |every |each )?(?:\w+ ?){1,3}?),? (?P<rest>(?:I|we|my|our|the) .+)"
)
