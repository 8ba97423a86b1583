"""Wordings that lift a rule: they allow again what was forbidden, ask no longer for what was asked, or drop a rule by name.

Such a sentence is a standing instruction as strong as the rule (`strengths`), and takes the place of the rule that it lifts
(`core/replacement/lifted_rules.py`).

Source: own grammar of English, German, French and Spanish.
"""

import re
from typing import Final

from everfold.core.statements.kinds import LiftingRule

_WHAT: Final = r"(?P<what>[^,;.!?:]+?)"
_NOW: Final = r"(?:again|now|any ?more|any longer|after all|from now on|from today(?: on)?|once more)"
_NOT: Final = r"(?:don't|do not|dont)"
_FINE: Final = r"(?:fine|ok|okay|alright|all right|allowed|permitted|welcome)"
_MAY: Final = r"(?:you|we) (?:can|may|could|are (?:allowed|free|welcome) to)"
_DOING: Final = r"(?!(?:do|say) (?:it|this|that)\b|try\b|see\b|be\b|have\b|\w+ again\b)"
_THING: Final = r"(?!(?:i|we|you|he|she|they|it|this|that|everything|all|things)\b)"
_VOID: Final = r"(?:forget|drop|scrap|ignore|lift|cancel|remove|delete|disregard|undo|revoke|withdraw)"
_RULE: Final = r"(?:rules?|instructions?|bans?|restrictions?)"
_OF: Final = r"(?:about|on|for|with|against|of|regarding|concerning|to always|to never|not to|never to|to)"

LIFTING: Final[tuple[LiftingRule, ...]] = (
    LiftingRule("allows", rf"{_MAY} {_DOING}{_WHAT} (?:again|from now on)$", "You can use emojis again.", "use emojis"),
    LiftingRule(
        "allows",
        rf"(?:it's|it is|that's|that is) (?:{_FINE}|no problem) (?:for you )?to {_WHAT} {_NOW}$",
        "It's fine to call before nine now.",
        "call before nine",
    ),
    LiftingRule(
        "allows",
        rf"{_THING}{_WHAT} (?:is|are) {_FINE} (?:with me )?{_NOW}$",
        "Window seats are fine again.",
        "window seats",
    ),
    LiftingRule("allows", rf"feel free to {_WHAT} again$", "Feel free to use emojis again.", "use emojis"),
    LiftingRule(
        "relieves",
        rf"you {_NOT} (?:need|have) to {_WHAT} (?:any ?more|any longer)$",
        "You don't need to CC Ben any more.",
        "cc ben",
    ),
    LiftingRule("relieves", rf"you no longer (?:need|have) to {_WHAT}$", "You no longer have to CC Ben.", "cc ben"),
    LiftingRule(
        "relieves",
        rf"(?:there's |there is )?no need to {_WHAT} (?:any ?more|any longer)$",
        "No need to CC Ben anymore.",
        "cc ben",
    ),
    LiftingRule(
        "drops",
        rf"(?:you (?:can|may) )?{_VOID} (?:the|my|that|your|this|our) (?:\w+ )?{_RULE} {_OF} {_WHAT}$",
        "Forget the rule about jokes.",
        "jokes",
    ),
    LiftingRule(
        "drops",
        rf"(?:you (?:can|may) )?{_VOID} what i (?:said|told you) about {_WHAT}$",
        "Forget what I said about window seats.",
        "window seats",
    ),
    LiftingRule(
        "drops",
        rf"(?:the|my|that|our) {_RULE} {_OF} {_WHAT} (?:is (?:off|gone|lifted|void|cancel+ed)|(?:no longer|does not|doesn't) (?:applies|apply|holds?)(?: {_NOW})?)$",
        "The rule about jokes no longer applies.",
        "jokes",
    ),
    # What says so only beside the rule itself.
    LiftingRule("allows", rf"{_MAY} {_WHAT} {_NOW}$", "You can use emojis now.", "use emojis", stands=False),
    LiftingRule(
        "allows", rf"(?:i|we) (?:{_NOT}|no longer) mind {_WHAT}$", "I no longer mind emojis.", "emojis", stands=False
    ),
    LiftingRule(
        "relieves", rf"(?:you (?:can|may) )?stop {_WHAT}(?: {_NOW})?$", "Stop CCing Ben.", "ccing ben", stands=False
    ),
    LiftingRule(
        "relieves", rf"no more {_WHAT}$", "Write normally again, no more lowercase.", "lowercase", stands=False
    ),
    LiftingRule(
        "allows",
        rf"(?:du darfst|sie dürfen|du kannst|sie können) wieder {_WHAT}$",
        "Du darfst wieder Emojis benutzen.",
        "emojis benutzen",
        is_english=False,
    ),
    LiftingRule(
        "allows",
        rf"{_WHAT} (?:ist|sind) (?:jetzt |nun )?wieder (?:ok|okay|in ordnung|erlaubt)$",
        "Fensterplätze sind wieder in Ordnung.",
        "fensterplätze",
        is_english=False,
    ),
    LiftingRule(
        "relieves",
        rf"(?:du musst|sie müssen|du brauchst|sie brauchen) {_WHAT} nicht mehr(?: (?:zu )?(?P<verb>\w+))?$",
        "Du musst Ben nicht mehr einkopieren.",
        "ben einkopieren",
        is_english=False,
    ),
    LiftingRule(
        "drops",
        rf"(?:bitte )?(?:vergiss|vergessen sie) (?:die|meine) (?:regel|anweisung) (?:über|zu|mit|für|wegen) (?:den |die |das |dem |der )?{_WHAT}$",
        "Vergiss die Regel zu den Witzen.",
        "witzen",
        is_english=False,
    ),
    LiftingRule(
        "allows",
        rf"(?:tu peux|vous pouvez) (?:de nouveau|à nouveau) {_WHAT}$",
        "Tu peux de nouveau utiliser des emojis.",
        "utiliser des emojis",
        is_english=False,
    ),
    LiftingRule(
        "drops",
        rf"(?:oublie|oubliez) la (?:règle|consigne) (?:sur|de|des|du|concernant) (?:les |la |le )?{_WHAT}$",
        "Oublie la règle sur les emojis.",
        "emojis",
        is_english=False,
    ),
    LiftingRule(
        "allows",
        rf"(?:ya )?(?:puedes|puede) volver a {_WHAT}$",
        "Ya puedes volver a usar emojis.",
        "usar emojis",
        is_english=False,
    ),
    LiftingRule(
        "drops",
        rf"(?:olvida|olvide) la (?:regla|norma) (?:sobre|de) (?:los |las |el |la )?{_WHAT}$",
        "Olvida la regla sobre los emojis.",
        "emojis",
        is_english=False,
    ),
)
"""The first row that holds of a clause decides."""
OPENED: Final = (
    r"(?:(?:ok|okay|so|and|but|well|actually|now|yes|no|also|btw|by the way|please|alright|scrap that|scratch that|from now on"
    r"|ab jetzt|gut|bon|bueno)\b,? ?)*"
)
"""What may stand before such a wording in its clause."""


def join_standing(*, is_english: bool) -> str:
    """One pattern, for rows of `strengths`, of all wordings of English or of the other languages that are standing instructions."""
    rows = [row.pattern for row in LIFTING if row.stands and row.is_english == is_english]
    unnamed = [re.sub(r"\(\?P<\w+>", "(?:", row).removesuffix("$") for row in rows]
    return rf"{{open}}{OPENED}(?:{'|'.join(unnamed)})(?=[,.;!]|$)"
