"""Of what a verb that ends says so: one owned thing, one thing of which all know, a person who leaves, or what recurs.

"My contract ends" tells of one thing; "winter ends", "our coupons expire" and "I rake leaves" name no last day. In doubt
nothing ends.

Source: own lists.
"""

from typing import Final

from everfold.core.text.patterns import compile_pattern

_JOINS: Final = r"and|but|so|then|also|please|und|et|y|e|en|il|o|a"
"""What may stand before a subject, with the article of "il mio"."""
_OWNERS: Final = (
    r"my|our|his|her|their|this|mein\w*|unser\w*|sein\w*|ihr\w*|diese[rs]?|mon|ma|notre|son|sa|cette|mis?|nuestr[oa]|su|mi[ao]|nostr[oa]|suo|sua"
    r"|mijn|onze|ons|zijn|haar|meu|minha|noss[oa]|seu|мо[йяё]|наша?"
)
_ARTICLES: Final = r"the|der|die|das|le|la|el|il|lo|de|het"
_THING: Final = r"[\w' -]+$"
_OWNED: Final = rf"^(?:(?:{_JOINS}),? )*(?:{_OWNERS}) {_THING}"
_KNOWN: Final = rf"^(?:(?:{_JOINS}),? )*(?:(?:{_ARTICLES}) |l'){_THING}"
_WHOLE_DATE: Final = r"\b\d{4}\b"
_ONCE: Final = (
    r"\d|\b(?:next|this|today|tonight|tomorrow|nächste\w*|heute|morgen|prochaine?|demain|próxim\w+|hoy|mañana|prossim\w+|oggi|domani|volgende"
    r"|vandaag|hoje|amanhã|сегодня|завтра|end|ende|fin|fine)\b"
)
"""A day of one week or year; "on Friday" and "in June" may be each one."""
_EACH_YEAR: Final = r"^ (?:in|im|en|em|a|à) [^\W\d]+$"
"""A month without a day: storks leave in it, too."""
LEAVERS: Final = {
    "english_one": r"(?:he|she|(?:my|our|his|her|their) [\w-]+)(?: also| only| already)?",
    "english_more": r"(?:i|we|you|they|(?:my|our|his|her|their) [\w-]+s|(?:(?:i|we|you|they|he|she|(?:my|our|his|her) [\w-]+) will|(?:i|we|you|they|he|she)'ll))(?: also| only| already)?",
    "german": r"(?:ich|wir|er|sie|(?:mein|unser|sein|ihr)\w* \w+)",
    "french": r"(?:je|tu|il|elle|on|(?:mon|ma|notre|son|sa) \w+)",
    "spanish": r"(?:él|ella|(?:mi|nuestr[oa]|su) \w+)",
    "italian": r"(?:lui|lei|(?:mi[ao]|nostr[oa]|suo|sua) \w+)",
    "dutch": r"(?:hij|zij|ze|(?:mijn|onze|ons|zijn|haar) \w+)",
    "portuguese": r"(?:el[ea]|(?:meu|minha|noss[oa]|seu|sua) \w+)",
}
"""Who may leave, directly before the verb, by the language of the verb: "I rake leaves" is a noun, "I take part" no French."""
_RECURS: Final = (
    r"\b(?:years?|seasons?|semesters?|trimesters?|terms?|weeks?|weekends?|months?|quarters?|days?|time|period|winter|summer|spring|autumn|fall|shifts?|sprints?|iteration"
    r"|school|class(?:es)?|lessons?|practice|choir|league|club|work|workday|training|meetings?|holidays|break|ramadan|lent|enrol\w*|festival|carnival|market|fair|harvest|retro\w*|fast(?:ing)?|rotation|cycle|billing|church|mass|rehearsal|stand-?up|fever|pollen|allerg\w*|migraine|flu|rain|snow|monsoon|quota"
    r"|train|bus|ferry|trucks?|lorry|van|lines?|trams?|coach|shuttle|boat|ship|subway|metro"
    r"|jahr|woche|monat|saison|winter|sommer|herbst|frühling|schicht|semester|schule|schuljahr|unterricht|zug|bahn|fähre|müllabfuhr"
    r"|année|semaine|saison|hiver|été|printemps|automne|école|cours|métro|bateau|año|semana|invierno|verano|otoño|primavera|temporada|turno|curso|escuela"
    r"|anno|settimana|inverno|estate|autunno|stagione|scuola|jaar|zomer|herfst|lente|seizoen|dienst|ano|verão|outono|estação|escola"
    r"|autobús|tren|treno|trein|trem|зима|лето|весна|осень|год|сезон|смена)\b"
)
"""What ends or leaves again and again; of it no day is the last."""
_MANY: Final = (
    r"\b(?:this|his|her|their|our free|diese\w*|cette|tokens?|sessions?|links?|cookies?|caches?|entr(?:y|ies)|keys?|passwords?|codes?|invit\w+|carts?|backups?|logs?|data|batter\w+|charge|phone|laptop|watch|tank|gas|fuel|jars?)\b"
    r"|\bour (?:[\w-]+ )*(?:trial|offer|coupon|voucher|discount|quote|certificate|window|guarantee|warranty)\b"
)
"""What has a lifetime: "the token expires in 3 days" tells how long each one lives."""


def names_one(subject: str, day: str, *, is_expiry: bool) -> bool:
    """Whether a day ends one thing: an owned one, one of which all know on a day of one week or year, or any on a whole date."""
    if compile_pattern(_RECURS).search(subject) is not None:
        return False
    if compile_pattern(_WHOLE_DATE).search(day) is not None or _is_owned(subject):
        return True
    is_once = is_expiry or compile_pattern(_ONCE).search(day) is not None
    return is_once and compile_pattern(_KNOWN).search(subject) is not None


def counts_down(subject: str) -> bool:
    """Whether "in 3 days" is counted from the day on which it is said: for one owned thing without a lifetime."""
    is_many = compile_pattern(_MANY).search(subject) is not None or compile_pattern(_RECURS).search(subject) is not None
    return _is_owned(subject) and not is_many


def leaves(subject: str, leaver: str, day: str) -> bool:
    """Whether a subject is a person who may leave, in the language of the verb, on a day that is no month of every year."""
    if compile_pattern(_EACH_YEAR).match(day) is not None:
        return False
    has_leaver = compile_pattern(rf"^(?:(?:{_JOINS}),? )*(?:{leaver})$").match(subject) is not None
    return has_leaver and compile_pattern(_RECURS).search(subject) is None


def _is_owned(subject: str) -> bool:
    return compile_pattern(_OWNED).search(subject) is not None
