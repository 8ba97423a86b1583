"""What the rules of `statements` are built of: bits for what a sentence may be, lists of words, and forms of a pattern.

The rules themselves are rows in `rule_tables`, one module a language.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, Literal

from everfold.core.text.wordings import split_branches

PatternForm = Literal["anywhere", "spaced", "loose"]
"""In which sentences a pattern is searched for.

- anywhere: in any sentence, as it is.
- spaced: in a sentence with `SPACING` before it, in which each word that a rule may begin with stands behind a blank. It
  looks only where a blank is, in half the time.
- loose: in any sentence with `SPACING` before it. It holds wherever `anywhere` does, and is found in half the time; it may
  hold where that does not, since a letter with an accent is no part of a word to it.
"""

HAS_DATE: Final = 1
MAY_DATE: Final = 2
MAY_FAIL: Final = 4
MAY_STATE: Final = 8
MAY_ASK: Final = 16
MAY_BIND: Final = 32
IMPERATIVE: Final = 64
FIRST_RULE: Final = 7
"""The place of the first rule's bit: cues below `IMPERATIVE` leave no statement possible, but for a question."""
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
_MORE_ORDERS: Final = list_word_set(
    "address alert assume back bcc cc capitalise capitalize cite confirm consult default eat email enter escape expect flag follow"
    " forward greet hold ignore include indent interrupt invite label log mark measure mention number offer pass phone"
    " phrase prefer pretend prioritise prioritize propose push quiz recommend redact refer refuse render repeat respect round share"
    " sign speak spell suggest suppose teach text think trust type wake warn name delete touch tag store push commit hand compare flag"
)
"""Words that open an order of how to work, beside those that open a task."""
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
_MARK: Final = "[^a-z0-9_]"
_NAMED: Final = {name: f"(?:{'|'.join(words.split())})" for name, words in _WORDS.items()} | {
    "{done}": _DONE,
    "{order}": f"(?:{'|'.join(sorted(IMPERATIVES | _MORE_ORDERS))})",
}
_FORMS: Final[dict[PatternForm, dict[str, str]]] = {
    "anywhere": {
        "@": r"\b",
        "{open}": rf"(?:^|[,;:—\u2013(] ?| - |\b{_OPENERS}){_OPENED}",
        "{start}": rf"(?:^|[,;:—\u2013(] ?| - |\b{_STARTERS})",
    },
    "spaced": {
        "@": " ",
        "^": f" (?<=^{SPACING})",
        "{open}": rf" (?:(?<=[,;:—\u2013(] )|- |{_OPENERS}){_OPENED}",
        "{start}": rf" (?:(?<=[,;:—\u2013(] )|- |{_STARTERS})",
    },
    "loose": {
        "@": _MARK,
        "^": f"{_MARK}(?<=^{SPACING})",
        "{open}": rf"{_MARK}(?:(?<=[,;:—\u2013(])|(?<=[,;:—\u2013(] )|- |{_OPENERS}){_OPENED}",
        "{start}": rf"{_MARK}(?:(?<=[,;:—\u2013(])|(?<=[,;:—\u2013(] )|- |{_STARTERS})",
    },
}
"""What the signs of a pattern stand for. All of `spaced` begin with a blank, so that a search only stops at blanks, all of
`loose` with what is no letter of English."""
_replace_signs: Final = re.compile(r"(?<!\[)\^|@|\{[a-z]+\}").sub


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


@cache
def read_pattern(pattern: str, form: PatternForm) -> re.Pattern[str]:
    """One of the three forms of a row's pattern, made ready when it is first tried: most programs meet few of them."""
    signs = _FORMS[form] | _NAMED
    return re.compile(_replace_signs(lambda found: signs.get(found[0], found[0]), pattern))
