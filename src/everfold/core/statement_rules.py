"""The rules of `statements`: the words they need, the two forms of their patterns, and all of them in their order.

The rules themselves stand in a module a family (`remember_rules`, `constraint_rules` and so on), in the order in which
they are tried: the more binding kind first.

Source: own grammar of English requests, and of the plainest ones of German, Spanish, French, Italian, Portuguese, Dutch
and Russian, tuned on the dev splits of tests/data/statements.jsonl and tests/data/memory_statements.jsonl only.
"""

import re
from collections.abc import Iterator
from typing import Final

from everfold.core.constraint_rules import CONSTRAINT_DENIAL, CONSTRAINT_RULES
from everfold.core.correction_rules import CORRECTION_DENIAL, CORRECTION_RULES
from everfold.core.decision_rules import DECISION_DENIAL, DECISION_RULES
from everfold.core.identity_rules import IDENTITY_DENIAL, IDENTITY_RULES
from everfold.core.preference_rules import PREFERENCE_DENIAL, PREFERENCE_RULES
from everfold.core.remember_rules import REMEMBER_DENIAL, REMEMBER_RULES
from everfold.core.statement_kinds import DenialRow, RuleRow, StatementKind
from everfold.core.task_rules import TASK_RULES
from everfold.core.wordings import split_branches

HAS_DATE: Final = 1
MAY_DATE: Final = 2
MAY_FAIL: Final = 4
MAY_STATE: Final = 8
MAY_ASK: Final = 16
MAY_BIND: Final = 32
IMPERATIVE: Final = 64
FIRST_RULE: Final = 7
"""The place of the first rule's bit: cues below `IMPERATIVE` leave no statement possible, but for a question."""
FLAGS: Final = (1 << FIRST_RULE) - 1
"""The bits before it, a small number, which is worked with sooner than the bits of all rules."""
SPACING: Final = ", "
"""What stands before a sentence whose words are looked for behind blanks: as behind a comma, a clause begins."""


def list_word_set(text: str) -> frozenset[str]:
    """The words of a table that is written as one text."""
    return frozenset(text.split())


def list_marked_words(text: str) -> frozenset[str]:
    """The words of such a table, also with the mark that may follow one: splitting at blanks finds all of them."""
    return frozenset(word + mark for word in text.split() for mark in ("", *",.!?:;"))


IMPERATIVES: Final = list_word_set(
    "add allow answer apply ask assume attach avoid be begin book bring build buy call cancel change check choose clean"
    " close combine compare compute configure convert copy count create debug delete deploy describe do download draft"
    " edit enable ensure explain export fetch fill find finish fix format generate get give go handle help implement"
    " import improve include insert install investigate keep leave let limit list look maintain make merge migrate move"
    " open order pay pick plan prepare print provide publish put quote read rebase refactor remind remove rename replace"
    " reply report reserve reset respond restart restrict return revert review rewrite run save schedule search select"
    " send set show sign skip solve sort split start stay stick stop store submit summarise summarize switch take talk"
    " tell test track transfer translate treat try turn undo update upgrade upload use validate verify wait work wrap"
    " write"
)
DATE_WORDS: Final = (
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august september october"
    " november december jan feb apr jul aug sep sept oct nov dec yesterday today tomorrow tonight weekend ago anniversary birthday"
)
MAY_DATE_WORDS: Final = "march may mar jun last next past coming years year months month weeks week days day since"
FAILURE_WORDS: Final = (
    "error errors errno exception fatal panic traceback failed failure failures fails failing denied refused unauthorized"
    " unauthorised forbidden unreachable unavailable timed timeout crash crashed crashes segfault segmentation aborted"
    " unhandled undefined cannot unable invalid conflict broken warning rejected killed overflow found exit exited err npm bad"
    " gateway"
)
STATE_WORDS: Final = (
    "passed failed skipped test tests errors total subtotal balance sum exit exited status state phase result outcome verdict success"
    " successful successfully complete completed finished delivered canceled cancelled confirmed up-to-date deployed merged approved"
    " submitted refunded shipped pending processed"
)

ASKING_WORDS: Final = "can could would will may"
BINDING_WORDS: Final = "always never now immer nie niemals siempre nunca toujours jamais sempre mai altijd nooit"
KIN_WORDS: Final = (
    "wife husband partner spouse son daughter kid kids children child baby brother brothers sister sisters sibling siblings mother"
    " father mom mum dad parents boyfriend girlfriend fiance fiancee dog cat pet boss manager family roommate"
)
_MINE_WORDS: Final = (
    "name surname email e-mail phone mobile number address birthday birthdate birth account id userid username login nickname timezone"
    " zone job title profession role employer company language tongue pronouns zip postcode age hometown nationality passport type"
)
STATES_OF_BEING: Final = (
    "allergic vegetarian vegan diabetic based from married divorced widowed engaged pregnant left-handed colorblind colourblind"
    " color-blind colour-blind deaf blind dyslexic autistic retired self-employed unemployed celiac coeliac lactose gluten years born"
    " intolerant transgender gay lesbian bisexual jewish muslim christian hindu buddhist single"
)
_DONE: Final = (
    r"(?:done|fixed|finished|pending|blocked|completed?|merged|deployed|cancell?ed|processed|updated|in progress|running|delivered"
    r"|resolved|closed|booked|removed|added|passing|implemented|created|installed|renamed|replaced|changed)"
)
_DONE_WORDS: Final = (
    "done fixed finished pending blocked complete completed merged deployed canceled cancelled processed updated progress running"
    " delivered resolved closed booked removed added passing implemented created installed renamed replaced changed"
)

_OPENERS: Final = "(?:please|pls|plz|kindly|and|but|also|so|then|just|ok|okay|oh|hmm|wait|sorry|no|yes|well|again) "
_OPENED: Final = r"(?:please |pls |plz |also |just |to )?"
_STARTERS: Final = "(?:please|pls|plz|ok|okay|but seriously|and please),? "
_WORDS: Final = {
    "{kin}": KIN_WORDS,
    "{mine}": _MINE_WORDS,
    "{being}": STATES_OF_BEING,
    "{done}": _DONE_WORDS,
}
_NAMED: Final = {name: f"(?:{'|'.join(words.split())})" for name, words in _WORDS.items()} | {"{done}": _DONE}
_ANYWHERE: Final = {
    "@": r"\b",
    "{open}": rf"(?:^|[,;:—\u2013(] ?| - |\b{_OPENERS}){_OPENED}",
    "{start}": rf"(?:^|[,;:—\u2013(] ?| - |\b{_STARTERS})",
    **_NAMED,
}
_SPACED: Final = {
    "@": " ",
    "^": f" (?<=^{SPACING})",
    "{open}": rf" (?:(?<=[,;:—\u2013(] )|- |{_OPENERS}){_OPENED}",
    "{start}": rf" (?:(?<=[,;:—\u2013(] )|- |{_STARTERS})",
    **_NAMED,
}
"""All begin with a blank, so that a search only stops at blanks."""
_MARK: Final = "[^a-z0-9_]"
_LOOSE: Final = {
    "@": _MARK,
    "^": f"{_MARK}(?<=^{SPACING})",
    "{open}": rf"{_MARK}(?:(?<=[,;:—\u2013(])|(?<=[,;:—\u2013(] )|- |{_OPENERS}){_OPENED}",
    "{start}": rf"{_MARK}(?:(?<=[,;:—\u2013(])|(?<=[,;:—\u2013(] )|- |{_STARTERS})",
    **_NAMED,
}
"""All begin with what is no letter of English, so that a search only stops there; where a word begins, it is one."""
_replace_names: Final = re.compile(r"(?<!\[)\^|@|\{[a-z]+\}").sub


def read_cues(cues: str) -> Iterator[tuple[str, str | None]]:
    """The cue words of a row, each with what must stand in the sentence as well, if anything."""
    for cue in _WORDS.get(cues, cues).split():
        word, _, part = cue.partition(":")
        part = (part or word).replace("_", " ")
        word = word.partition("_")[0]
        yield word, part if part != word else None


def is_anchored(pattern: str) -> bool:
    """Whether all that a row's pattern may find begins where the sentence does."""
    return all(branch.startswith("^") for branch in split_branches(pattern))


def read_loose_pattern(pattern: str) -> re.Pattern[str]:
    """A row's pattern for any sentence with `SPACING` before it: found wherever `read_pattern` finds it, in half the time.

    It may hold where that does not, as a letter with an accent is no part of a word to it.
    """
    return re.compile(_replace_names(lambda found: _LOOSE.get(found[0], found[0]), pattern))


def read_pattern(pattern: str, *, is_spaced: bool) -> re.Pattern[str]:
    """One of the two forms of a row's pattern: for any sentence, or for a spaced one with `SPACING` before it."""
    names = _SPACED if is_spaced else _ANYWHERE
    return re.compile(_replace_names(lambda found: names.get(found[0], found[0]), pattern))


RULES: Final[tuple[RuleRow, ...]] = (
    *REMEMBER_RULES,
    *CORRECTION_RULES,
    *DECISION_RULES,
    *CONSTRAINT_RULES,
    *IDENTITY_RULES,
    *PREFERENCE_RULES,
    *TASK_RULES,
)
DENIALS: Final[dict[StatementKind, DenialRow]] = {
    "remember": REMEMBER_DENIAL,
    "correction": CORRECTION_DENIAL,
    "decision": DECISION_DENIAL,
    "constraint": CONSTRAINT_DENIAL,
    "identity": IDENTITY_DENIAL,
    "preference": PREFERENCE_DENIAL,
}
