"""Whether a statement lifts a rule: allows again what was forbidden, asks no longer for what was asked, drops a rule by name.

A rule is lifted only where the newer statement speaks of nothing that the rule does not name, and the rule of little that
the newer one does not ("You can use emojis again." lifts "Never use emojis.", not "Never use emojis in contracts."). What
has a condition or an end of its own ("You can call before nine tomorrow.") lifts nothing for good: both stand.

Source: own grammar of English, German, French and Spanish.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from everfold.core.changes.words import DENIALS
from everfold.core.clauses.assertions import REMEMBERED_TEXTS, expand, list_tokens
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.strengths import STRONG, measure_strength
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

Lifting: TypeAlias = Literal["allows", "relieves", "drops"]
"""What a statement does to a rule. `allows`: what was forbidden. `relieves`: from what was asked. `drops`: any rule of a thing."""


class LiftingRule(NamedTuple):
    """One row: a wording that lifts a rule.

    Attributes:
        lifting: What it does.
        pattern: Tried where a clause begins, in lower case; `what` is what the rule is about.
        example: A sentence of which this row holds.
        what: What it then finds.
    """

    lifting: Lifting
    pattern: str
    example: str
    what: str


_NOW: Final = r"(?:again|now|any ?more|any longer|after all|from now on|from today(?: on)?|once more)"
_WHAT: Final = r"(?P<what>[^,;.!?:]+?)"
_FINE: Final = r"(?:fine|ok|okay|o\.k\.|alright|all right|allowed|permitted|welcome|good)"
_VOIDS: Final = r"(?:forget|drop|scrap|ignore|lift|cancel|remove|delete|disregard|undo|revoke|withdraw)"
_RULES: Final = r"(?:rules?|instructions?|orders?|bans?|restrictions?|limits?|requests?|policy|requirements?|wish|ask)"
_OF: Final = r"(?:about|on|for|with|against|of|regarding|concerning|to always|to never|not to|never to|to)"
RULES: Final[tuple[LiftingRule, ...]] = (
    LiftingRule(
        "allows",
        rf"(?:you|we) (?:can|may|could|are (?:allowed|free|welcome) to) {_WHAT} {_NOW}$",
        "You can use emojis again.",
        "use emojis",
    ),
    LiftingRule(
        "allows",
        rf"(?:it is |that is )?(?:{_FINE}|no problem) (?:for you )?to {_WHAT} {_NOW}$",
        "It's fine to call before nine now.",
        "call before nine",
    ),
    LiftingRule(
        "allows", rf"{_WHAT} (?:is|are) {_FINE} (?:with me )?{_NOW}$", "Window seats are fine again.", "window seats"
    ),
    LiftingRule("allows", rf"feel free to {_WHAT} {_NOW}$", "Feel free to use emojis again.", "use emojis"),
    LiftingRule(
        "allows", rf"(?:i|we) (?:do not|no longer) mind {_WHAT}(?: {_NOW})?$", "I no longer mind emojis.", "emojis"
    ),
    LiftingRule(
        "relieves",
        rf"(?:you|we) (?:do not|no longer) (?:need|have) to {_WHAT} {_NOW}$",
        "You don't need to CC Ben any more.",
        "cc ben",
    ),
    LiftingRule(
        "relieves", rf"(?:you|we) no longer (?:need|have) to {_WHAT}$", "You no longer have to CC Ben.", "cc ben"
    ),
    LiftingRule("relieves", rf"(?:there is )?no need to {_WHAT} {_NOW}$", "No need to CC Ben anymore.", "cc ben"),
    LiftingRule(
        "relieves", rf"(?:please )?(?:you (?:can|may) )?stop {_WHAT}(?: {_NOW})?$", "Stop CCing Ben.", "ccing ben"
    ),
    LiftingRule("relieves", rf"no more {_WHAT}$", "Write normally again, no more lowercase.", "lowercase"),
    LiftingRule(
        "drops",
        rf"(?:please )?(?:you (?:can|may) )?{_VOIDS} (?:the|my|that|your|this|our) (?:\w+ )?{_RULES} {_OF} {_WHAT}$",
        "Forget the rule about jokes.",
        "jokes",
    ),
    LiftingRule(
        "drops",
        rf"(?:please )?(?:you (?:can|may) )?{_VOIDS} what i (?:said|told you|wrote|asked for) about {_WHAT}$",
        "Forget what I said about window seats.",
        "window seats",
    ),
    LiftingRule(
        "drops",
        rf"(?:the|my|that|our) {_RULES} {_OF} {_WHAT} (?:is (?:off|gone|lifted|void|cancel+ed|history|over)|(?:no longer|does not) (?:applies|apply|holds?)(?: {_NOW})?)$",
        "The rule about jokes no longer applies.",
        "jokes",
    ),
    LiftingRule(
        "allows",
        rf"(?:du darfst|sie dürfen|du kannst|sie können) wieder {_WHAT}$",
        "Du darfst wieder Emojis benutzen.",
        "emojis benutzen",
    ),
    LiftingRule(
        "allows",
        rf"{_WHAT} (?:ist|sind) (?:jetzt |nun )?wieder (?:ok|okay|in ordnung|erlaubt|gut)$",
        "Fensterplätze sind wieder in Ordnung.",
        "fensterplätze",
    ),
    LiftingRule(
        "relieves",
        rf"(?:du musst|sie müssen|du brauchst|sie brauchen) {_WHAT} nicht mehr(?: (?:zu )?(?P<verb>\w+))?$",
        "Du musst Ben nicht mehr einkopieren.",
        "ben einkopieren",
    ),
    LiftingRule(
        "drops",
        rf"(?:bitte )?(?:vergiss|vergessen sie|streich|streichen sie) (?:die|meine) (?:regel|anweisung|bitte) (?:über|zu|mit|für|wegen) (?:den |die |das |dem |der )?{_WHAT}$",
        "Vergiss die Regel zu den Witzen.",
        "witzen",
    ),
    LiftingRule(
        "allows",
        rf"(?:tu peux|vous pouvez) (?:de nouveau|à nouveau) {_WHAT}$",
        "Tu peux de nouveau utiliser des emojis.",
        "utiliser des emojis",
    ),
    LiftingRule(
        "drops",
        rf"(?:oublie|oubliez) la (?:règle|consigne) (?:sur|de|des|du|concernant) (?:les |la |le )?{_WHAT}$",
        "Oublie la règle sur les emojis.",
        "emojis",
    ),
    LiftingRule(
        "allows", rf"(?:ya )?(?:puedes|puede) volver a {_WHAT}$", "Ya puedes volver a usar emojis.", "usar emojis"
    ),
    LiftingRule(
        "drops",
        rf"(?:olvida|olvide) la (?:regla|norma) (?:sobre|de) (?:los |las |el |la )?{_WHAT}$",
        "Olvida la regla sobre los emojis.",
        "emojis",
    ),
)
"""The first row that holds of a clause decides."""
_OPENED: Final = r"(?:(?:ok|okay|so|and|but|well|actually|now|yes|no|also|btw|by the way|please|alright|from now on|from today on|ab jetzt|also|gut|bon|bueno)\b,? ?)*"
_MOST_BESIDE: Final = {"allows": 1, "relieves": 1, "drops": 2}
"""How many words a rule may have beside what is lifted: its verb, or a thing and where it goes. Source: own choice."""
_IDLE: Final = list_word_set(
    "a an the any some my your our that this these those please always never ever again now more from in at to on of do does not be is are"
    " i you we me us it use using normal normally so and or with remember rule avoid stop no"
    " der die das den dem des ein eine einen nie niemals immer kein keine keinen keinem bitte nicht zu in im am von und"
    " le la les l un une des du de d ne pas jamais toujours plus et el los las una unos no nunca siempre y ya"
)
"""Words of an order that are not about anything."""
_ENDINGS: Final = re.compile(r"(?<=\w\w)(?:ing|en|e)$")
_FORBIDDING: Final = list_word_set("avoid stop nie niemals keine kein keinen jamais nunca sin ohne sans without")
_PROVISOS: Final = list_word_set("if when unless until while for just today tonight tomorrow once wenn bis heute si")
_CUES: Final = list_word_set(
    "again now anymore more longer all on once no stop forget drop scrap ignore lift cancel remove delete disregard undo revoke withdraw"
    " rule rules instruction instructions order orders ban bans restriction restrictions limit limits request requests policy"
    " wieder mehr vergiss vergessen streich streichen nouveau oublie oubliez volver olvida olvide"
)
"""Without one of these no row holds."""


@lru_cache(maxsize=REMEMBERED_TEXTS)
def list_lifted(text: str) -> tuple[tuple[Lifting, frozenset[str]], ...]:
    """What a statement lifts, each by what it does and the stems of what the rule is about; empty for a question."""
    words = list_tokens(text.lower())
    if text.rstrip()[-1:] in "?\uff1f" or _CUES.isdisjoint(words) or not _PROVISOS.isdisjoint(words):
        return ()
    return tuple(_read_clauses(expand(text).strip().lower()))


def _read_clauses(lowered: str) -> Iterator[tuple[Lifting, frozenset[str]]]:
    for clause in compile_pattern(r"[,;.!:\u2013\u2014]+ *").split(lowered):
        for rule in RULES:
            found = compile_pattern(_OPENED + rule.pattern).match(clause.strip())
            if found is None:
                continue
            words = _list_words(list_tokens(found["what"] + f" {found.groupdict().get('verb') or ''}"))
            if words and not DENIALS.search(found["what"]):
                yield rule.lifting, words
            break


def lifts(statement: str, rule: str) -> bool:
    """Whether a statement lifts a rule."""
    lifted = list_lifted(statement)
    lowered = expand(rule).lower() if lifted else ""
    if not lifted or (measure_strength("constraint", rule) < STRONG and not lowered.startswith("no ")):
        return False
    tokens = list_tokens(lowered)
    is_forbidding = DENIALS.search(lowered) is not None or not _FORBIDDING.isdisjoint(tokens)
    named = _list_words(tokens)
    return any(
        words <= named
        and len(named - words) <= _MOST_BESIDE[lifting]
        and (lifting == "drops" or (lifting == "allows") == is_forbidding)
        for lifting, words in lifted
    )


def _list_words(tokens: Iterable[str]) -> frozenset[str]:
    """The stems of what an order is about, without the endings of verbs."""
    return frozenset(_ENDINGS.sub("", stem(token)) for token in tokens if token not in _IDLE)
