"""What topics are called without a model: words that a person would choose, and the same ones from dream to dream.

A statement's subjects are its words that tell a matter; its nouns are those of them that stand where a noun stands:
behind an article, a possessive or a preposition, or as a name in the middle of a sentence. Only a noun names a topic.
What shares no noun with anything belongs to an area of life that it has a word of, else to what its kind is called.

Source: DESIGN section 4, "Dreamer"; the lists of words are our own, drawn up for English.
"""

import re
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import Final

from everfold.core.items import Item, ItemKind
from everfold.core.statement_rules import DATE_WORDS, MAY_DATE_WORDS
from everfold.core.words import STOP_WORDS, find_words, read_words

GENERAL: Final = "general"
"""The topic of what shares its subject with nothing. Source: REQUIREMENTS OF-44."""
KIND_NAMES: Final[Mapping[ItemKind, str]] = {
    "fact": GENERAL,
    "preference": "preferences",
    "decision": "decisions",
    "task": "plans",
    "open_item": "questions",
}
"""What is left is called so, by its kind."""
_VOLUMES: Final = ("later", "more", "further", "newer", "other", "latest")
"""What a name gets before it where another topic has it. A tier has no more topics than there are of these, and one."""
_NAME_CHARS: Final = 48
_RUN_COUNT: Final = 2
"""So many words behind an article may be the noun: of more, the next is likely to be the verb."""

_AREA_WORDS: Final[Mapping[str, str]] = {
    "people": "mother mom mum father dad parent brother sister son daughter child children kid kids wife husband partner"
    " boyfriend girlfriend fiance fiancee friend family grandma grandpa grandmother grandfather grandson granddaughter"
    " aunt uncle cousin nephew niece neighbour neighbor roommate wedding married marriage divorce baby birthday twin",
    "work": "job work office boss manager colleague coworker team client customer company business startup employer career"
    " salary project shift interview meeting deadline contract invoice report budget studio shop store internship"
    " promotion sale freelance report deploy release code repository server database test api bug branch",
    "studies": "school college university class course exam degree student teacher professor thesis lecture homework"
    " lesson training certificate study diploma tutor",
    "home": "home house flat apartment room kitchen garden yard rent mortgage landlord furniture sofa move street town city"
    " neighbourhood neighborhood village address dog cat puppy kitten pet bird rabbit hamster",
    "health": "doctor dentist hospital clinic allergy allergic medicine medication pill diet vegan vegetarian gluten sleep"
    " insomnia asthma diabetes injury knee back therapy therapist surgery illness sick pain pregnant gym workout fitness"
    " weight yoga anxiety stress blood",
    "travel": "trip travel flight hotel airport train ticket passport visa vacation holiday beach mountain camp camping"
    " hike hiking tour cruise ferry road luggage booking reservation country abroad museum",
    "food": "food cook cooking recipe restaurant dinner lunch breakfast coffee tea meal dish bake baking cake bread cheese"
    " wine beer fruit vegetable meat fish rice pasta soup pizza chocolate",
    "hobbies": "hobby music song band guitar piano violin concert sing dance dancing paint painting draw drawing art pottery"
    " photo photography book novel read reading write writing movie film series show game gaming sport football soccer"
    " basketball tennis swim swimming run running marathon race bike bicycle cycling climb climbing craft knit chess"
    " collect volunteer festival",
    "money": "money bank loan debt tax insurance saving savings pension invest investment credit price cost payment account",
}
"""Words of what people's lives are divided into, by the name of the part."""
AREA_NAMES: Final = frozenset((*_AREA_WORDS, *KIND_NAMES.values()))
"""The names of groups that are made of no shared noun."""
_AREA_BY_WORD: Final[Mapping[str, str]] = {
    word: area for area, text in reversed(list(_AREA_WORDS.items())) for word in read_words(text)
}
_NO_SUBJECT: Final = frozenset(
    word
    for text in (
        DATE_WORDS,
        MAY_DATE_WORDS,
        "like love hate prefer want wish need use try think know believe feel hope say tell ask remember forget please",
        "always usually often sometimes never now later soon already still instead actually really maybe probably ever",
        "good better best bad worse worst great nice new newer latest old older big small large little long short high low",
        "first last next second many much more most less least few lot thing things stuff way further other another every",
        "make take get give go come put set keep let start stop begin end change live decide decision agree plan gonna",
        "user person people someone everyone something anything everything nothing time year month week day hour minute",
        "moment morning afternoon evening night date today tomorrow yesterday weekend while bit kind sort part piece side",
        "one two three four five six seven eight nine ten no not yes ok okay fact task preference open item general note",
        "how what when where why who whom whose which whether gotta wanna lemme kinda sorta lol haha yeah yep wow hey hi",
        "definitely totally absolutely honestly certainly sure quite pretty almost enough yet even rather together around",
        "help find found look see watch hear talk call show stay pick check update happen seem become mean turn bring",
        "run leave meet read write buy sell pay wait send move follow learn seek grow win lose catch hold check finish",
        "able happy glad sad excited amazing awesome cool fun true right wrong real sorry thank thanks proud own main",
        "life world place idea chance reason point sense feeling experience example case matter problem question answer",
        "number name value kind type level list amount total correction important special different same favorite favourite",
    )
    for word in read_words(text)
)
_BEFORE_NOUN: Final = re.compile(
    r"\b(?:my|our|your|his|her|their|its|the|an?|this|these|those|some|any|each|every|no|of|in|on|at|for|with|about|from"
    r"|into|near|by|as)\s+$",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"[ \-]")
_NOT_NOUN: Final = re.compile(r".*(?:ly|n't)$", re.IGNORECASE)


@lru_cache(maxsize=8192)
def list_subjects(statement: str) -> dict[str, str]:
    """The words of a statement that tell its subject, as stems, with how each is written first."""
    found: dict[str, str] = {}
    for start, end, words in find_words(statement):
        word = words[-1] if words else ""
        if _tells(word):
            found.setdefault(word, statement[start:end])
    return found


@lru_cache(maxsize=8192)
def list_nouns(statement: str) -> dict[str, str]:
    """Those of its subjects that stand where a noun stands, as stems, with how each is written first. Never a number."""
    found: dict[str, str] = {}
    left, before_end = 0, 0
    for start, end, words in find_words(statement):
        word, text = words[-1] if words else "", statement[start:end]
        if _BEFORE_NOUN.search(statement, 0, start):
            left = _RUN_COUNT
        elif not word or word in STOP_WORDS or not _GAP.fullmatch(statement[before_end:start]):
            left = 0
        before_end = end
        is_name = (
            start > 0 and text[:1].isupper() and statement[start - 1] == " " and statement[start - 2] not in ".!?:"
        )
        if _tells(word) and not _NOT_NOUN.match(text) and (left or is_name):
            found.setdefault(word, text)
            left -= 1
    return found


def _tells(word: str) -> bool:
    return bool(word) and word not in STOP_WORDS and word not in _NO_SUBJECT and not any(map(str.isdigit, word))


def find_area(item: Item) -> str:
    """What an item belongs to where it shares its subject with nothing: an area of life, else what its kind is called."""
    for word in list_subjects(item.statement):
        if word in _AREA_BY_WORD:
            return _AREA_BY_WORD[word]
    return KIND_NAMES[item.kind]


def to_topic_name(text: str) -> str:
    """Any text as a topic's name: words in small letters joined by underscores; empty where it has none."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:_NAME_CHARS].strip("_")


def choose_free_name(name: str, taken: Container[str]) -> str:
    """The name, or the name with the first word before it that nothing has; numbers when those words are used up."""
    for free in (name, *(f"{word}_{name}" for word in _VOLUMES)):
        if free not in taken:
            return free
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
