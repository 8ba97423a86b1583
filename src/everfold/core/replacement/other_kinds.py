"""Whether two statements give values of other kinds, which hold beside each other, though the thing is the same.

"The exam was moved to 10:30" leaves "The exam is on 9 May" as it is, and "My boss is Swiss" leaves "My boss is Ada".

Source: own lists, tuned on `tempting.jsonl` and `hostile.jsonl` of `tests/data/supersession`.
"""

import re
from typing import Final

from everfold.core.changes.given_up import list_given_up, split_clauses
from everfold.core.changes.words import DENIALS
from everfold.core.clauses.frames import JOINS, Frame, read_frame
from everfold.core.replacement.attributes import WHAT_SOMEBODY_IS, may_lie_within
from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern

_CLOCK: Final = (
    r"\b(?:\d{1,2}(?::|h)\d{2}|\d{1,2} ?(?:am|pm|uhr|o'clock)|noon|midnight|mittag|midi|minuit)\b|\bat (?:\d{1,2}|half past \w+|quarter (?:past|to) \w+)(?=[.,;!?]|$| )"
    r"|\bà \d{1,2} ?h\b|\ba las \d|\bum \d{1,2}\b"
)
_DAY: Final = (
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|june|july|august|sept(?:ember)?|october|november|december)\b|\b\d{1,2} may\b|\bmay \d{1,2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{4}-\d\d-\d\d\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)s?\b"
)
_MEASURES: Final = {
    word: sort
    for sort, words in {
        "time": "second seconds minute minutes min mins hour hours hr hrs h day days week weeks month months year years",
        "length": "mm cm m km metre metres meter meters kilometre kilometres kilometer kilometers mile miles foot feet inch inches",
        "area": "sqm square",
        "weight": "g gram grams kg kilo kilos kilogram kilograms pound pounds lb lbs ton tons oz ounce ounces",
        "money": "euro euros eur dollar dollars usd cents cent pence chf francs",
        "heat": "degrees degree celsius fahrenheit",
        "share": "percent %",
    }.items()
    for word in words.split()
}
_AMOUNT: Final = re.compile(r"(?P<coin>[$€£] ?)?\b\d[\d.,]*\d?(?: ?(?P<unit>%|[a-z]+))?")
_DEPTH: Final = re.compile(
    r"\b\d[\d.,]* ?(?:mm|cm|m|km|met(?:re|er)s?|feet|foot|inch(?:es)?) (deep|wide|high|long|tall|thick|apart|away)\b"
)
_PLACE: Final = re.compile(r"\b(?:floor|level|room|platform|gate|chapter|page) \d")
_SIDE: Final = re.compile(r"\b(?:height|width|depth|length|thickness|distance)\b")
_ONCE: Final = (
    r"\b(?:(?:do|does|did|can|will) not (?:only|just)|sometimes|occasionally|now and then|hoy|aujourd'hui|at lunch|luckily)\b"
    r"|\bnot\b.*\bthis (?:weekend|time|once)\b|\binstead\b.*\b(?:this (?:morning|afternoon|evening)|tonight)\b"
    r"|\b(?:cancel\w*|closed|switched|changed|abgesagt|annulée?)\b.*\b(?:because of the (?:heat|cold|rain|weather|snow|noise|traffic)|because the \w+ (?:was|were|is|are) (?:ill|sick|broken|closed|full|down)"
    r"|(?:is|was|am|are|ist|est) (?:ill|sick|krank|malade)|(?:has|had|have) (?:a|the) (?:cold|flu))\b"
)
_SINCE_THEN: Final = (
    r"\b(?:sold|stolen|died|lost|broke)\b.*\b(?:(?:a|an|another|the) (?:new|better|bigger|newer|nicer|lighter|other) one|another one|this one|new one)\b|\b(?:years?|months) ago\b"
    r"|\b(?:rejoined|reinstalled|found it again)\b|\b(?:my|our) (?:old|former|previous|last) (?:team|company|job|school|boss|employer|flat|office)\b"
)
_FOR_WHOM: Final = re.compile(
    r"\b(?:for|per) (?:students?|kids?|child(?:ren)?|pensioners?|seniors?|members?|adults?|locals?|residents?|groups?|famil(?:y|ies)|guests?|tourists?|employees|staff)\b"
)
_ROOM: Final = re.compile(
    r"\bin the ((?:living|guest|spare|dining|bath|bed|laundry|waiting|meeting) ?room|kitchen|office|garage|garden|basement|attic|hall|hallway|shed|cellar)\b"
)
_REMAINING: Final = re.compile(r"\b\d[\w ]*? (?:left|remaining|to go)\b")
_SO_FAR: Final = re.compile(r"\bso far\b")
_AIM: Final = re.compile(r"\b(?:trying|want|plan|planning|aim|aiming|hope|hoping|going|goal is) to\b")
_LANGUAGES: Final = list_word_set(
    "english german french spanish italian dutch portuguese polish russian turkish arabic chinese japanese korean hindi greek latin swedish danish norwegian finnish czech hungarian ukrainian"
)
_NO_NAME: Final = re.compile(
    rf"{WHAT_SOMEBODY_IS}(?: of [A-Z]\w+)?$|(?i:the (?:one|guy|man|woman|lady|person|girl|boy)\b|the \w+ (?:from|on|with|in|at|next|around) )"
)
"""Where a person is from, what they are, and which one: it gives no one another name."""


def is_of_another_kind(newer: str, older: str) -> bool:
    """Whether the newer statement, both expanded, gives a value that may hold beside the older one's."""
    said, told = older.lower(), newer.lower()
    return (
        _is_this_time(told, said)
        or may_lie_within(newer, older)
        or _stands_beside(told, older)
        or _tells_other_time(told, said)
        or _tells_other_measure(told, said)
        or (_FOR_WHOM.search(told) is not None and _FOR_WHOM.search(said) is None)
        or _names_in_words(newer, older)
        or _asks_for_style(told, said)
        or _is_in_another_room(told, said)
        or (_REMAINING.search(told) is not None and _REMAINING.search(said) is None)
        or (_SO_FAR.search(told) is not None and _AIM.search(said) is not None)
        or _happened_once(newer, older)
    )


def _is_this_time(told: str, said: str) -> bool:
    """Whether the newer one tells what is so once or for a while, or what was soon as it had been."""
    return any(
        compile_pattern(one).search(told) and not compile_pattern(one).search(said) for one in (_ONCE, _SINCE_THEN)
    )


def _stands_beside(told: str, older: str) -> bool:
    """Whether what the older one speaks of only tells when or for what something else is: "my taxi to the flight"."""
    said = read_frame(older)
    if said is None or said.clause.is_first or said.clause.verb_at < 1:
        return False
    before = said.clause.tokens[: said.clause.verb_at]
    end = next((at for at, word in enumerate(before) if word in JOINS), len(before))
    noun = re.escape(before[max(end - 1, 0)])
    return (
        re.search(rf"\b(?:before|after|during|to) (?:the|my|our) {noun}\b", told) is not None
        and re.search(rf"(?:^|[,;.] )(?:(?:the|my|our) )?{noun}\b", told) is None
    )


def _tells_other_time(told: str, said: str) -> bool:
    """Whether one tells a time of day and the other only the day."""
    clocks = [compile_pattern(_CLOCK).search(text) is not None for text in (told, said)]
    days = [compile_pattern(_DAY).search(text) is not None for text in (told, said)]
    is_other = clocks[0] != clocks[1] and days[0] != days[1] and clocks[0] == days[1]
    return is_other and not list_given_up(told) and not DENIALS.search(told)


def _tells_other_measure(told: str, said: str) -> bool:
    """Whether each tells one amount, and they measure something else, or one of them a side of the thing."""
    one, other = (_list_measures(text) for text in (told, said))
    sides = [_DEPTH.search(text) for text in (told, said)]
    if (
        sides[0] is not None
        and _SIDE.search(said) is None
        and (sides[1] is None or sides[0][1] != sides[1][1])
        and one & other
    ):
        return True
    return bool(one and other) and one.isdisjoint(other)


def _list_measures(text: str) -> frozenset[str]:
    sorts = ("money" if found["coin"] else _MEASURES.get(found["unit"] or "", "") for found in _AMOUNT.finditer(text))
    places = ("place" for _ in _PLACE.finditer(text))
    return frozenset(filter(None, (*sorts, *places)))


def _names_in_words(newer: str, older: str) -> bool:
    """Whether of a person who was named it is told what they are."""
    said = read_frame(older)
    if said is None or not said.is_copula or not said.phrases or said.phrases[0].sort != "name" or said.phrases[0].join:
        return False
    return any(
        frame.is_copula
        and _NO_NAME.match(" ".join(frame.clause.raw[frame.clause.verb_at + 1 :]).strip(" .!")) is not None
        for frame in map(read_frame, split_clauses(newer))
        if frame is not None
    )


def _asks_for_style(told: str, said: str) -> bool:
    """Whether a language was asked for, and now something else than another one."""
    words = [frozenset(re.findall(r"[a-z]+", text)) for text in (told, said)]
    is_asked = re.match(r"(?:please |always )?(?:answer|reply|respond|write|speak|talk|explain)\b", said) is not None
    return is_asked and bool(words[1] & _LANGUAGES) and not words[0] & _LANGUAGES and not DENIALS.search(told)


def _is_in_another_room(told: str, said: str) -> bool:
    """Whether both speak of a thing by the room that it is in, not the same one."""
    frame = read_frame(said)
    place = _ROOM.search(" ".join(frame.clause.tokens[: frame.clause.verb_at])) if frame is not None else None
    rooms = _ROOM.findall(told)
    return place is not None and bool(rooms) and place[1] not in rooms


def _happened_once(newer: str, older: str) -> bool:
    """Whether the older one tells a habit, and the newer one what was done once."""
    said = read_frame(older)
    told = [frame for frame in map(read_frame, split_clauses(newer)) if frame is not None]
    return said is not None and _is_habit(said) and bool(told) and all(_is_event(frame, said) for frame in told)


def _is_habit(frame: Frame) -> bool:
    return frame.clause.is_first and not frame.is_past and frame.verb not in ("be", "have")


def _is_event(frame: Frame, said: Frame) -> bool:
    return frame.clause.is_first and frame.is_past and frame.verb == said.verb
