"""What a statement says is given up, left behind or not so any more, beside the marks of `marks.py`.

Source: own grammar, English, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""
# ruff: noqa: RUF001  (marks of other scripts are what this is about)

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.changes.ending_words import (
    FOR_NOW,
    GONE,
    LEAVING,
    WITHDRAWING,
    WORD,
    Ending,
    is_out_of_power,
    join,
    list_cues,
)
from everfold.core.clauses.assertions import REMEMBERED_TEXTS, list_tokens
from everfold.core.clauses.frames import LIGHT, list_plain
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

_OLD: Final = r"(?P<old>[^,;!?]+?)"
_END: Final = r"(?=\s*(?:[,;.!?]|$| and\b| so\b| because\b| since\b| but\b| last\b| yesterday\b| at (?:all|the end)\b))"
_EXCHANGED: Final = r"(?=\s*(?:[,;.!?]|$| and\b| so\b| because\b| since\b| but\b| for\b| in favou?r\b| with\b| by\b| last\b| yesterday\b| into\b| to\b))"
_LEFT: Final = rf"\b(?:{join(LEAVING)}) {_OLD}{_EXCHANGED}"
_BACK: Final = (
    r"\b(?:came|back|home|returned|got|picked up|collected|fetched|took|taken|moved|removed|discharged)\b[^,;!?]*?"
    rf" (?:from(?: under| behind| near)?|out of|off) {_OLD}{_END}"
)
_HIS: Final = "(?:my|our|his|her|their|the)"
PATTERNS: Final[tuple[Ending, ...]] = (
    Ending(_LEFT, "I sold the Skoda.", "skoda"),
    Ending(rf"\b(?:instead of|rather than|in place of) {_OLD}{_END}", "Send it to Mona instead of Erik.", "erik"),
    Ending(rf"\brather [^,;]*? than {_OLD}{_END}", "I would rather run than swim.", "swim"),
    Ending(
        rf"(?:\b(?:stopped|quit)|(?:^|[,;.!] |\bplease |\bto |\bshould )stop)(?! (?:in|at|by|for|to|on|and)\b) (?:\w+ing )?{_OLD}{_END}",
        "I stopped taking iron.",
        "iron",
    ),
    Ending(
        rf"\b(?:mov|chang|switch|migrat|relocat|transferr?|convert|postpon|push|shift|delay|rais|increas|lower|cut|reduc|promot|upgrad|renam|went|go|gone|pivot|port|extend|short|rebook|brought|reschedul|export|import|down|up)\w*\b[^,;!?]*? from {_OLD} (?:over )?to\b",
        "They moved the fair from Berlin to Vienna.",
        "berlin",
    ),
    Ending(
        r"\b(?:am|are|is|been) off (?!on\b|at\b|in\b|to\b|for\b|until\b|the (?:rest|whole|week|month|day|hook)\b|work\b|sick\b|\w+day\b)"
        rf"{_OLD}{_END}",
        "I am off sugar.",
        "sugar",
    ),
    Ending(rf"\blet {_OLD} (?:go(?=[.,;!]|$)|lapse|expire|run out(?=[.,;!]|$))", "We let the gardener go.", "gardener"),
    Ending(
        rf"\b(?:gave|sent|threw|traded|(?:to|must) (?:give|send|throw)) {_HIS}? ?{_OLD} "
        r"(?:away|in(?= for\b)|back)\b",
        "I gave the loom away.",
        "loom",
    ),
    Ending(rf"^enough of {_OLD}{_END}", "Enough of the olives, thanks.", "olives"),
    Ending(rf"\btook {_HIS}? ?{_OLD} off(?=,)", "We took the tyres off, they were old.", "tyres"),
    Ending(rf"\b(?:got|brought) {_HIS}? ?{_OLD} down\b", "We got the load down to 3 tons.", "load"),
    Ending(
        rf"\bgot {_HIS}? ?{_OLD} off\b",
        "I got my braces off.",
        "braces",
    ),
    Ending(rf"\b(?:swapped|switched) {_HIS}? ?{_OLD} out\b", "We swapped the hub out.", "hub"),
    Ending(
        rf"\bi (?:said|told you|wrote|mentioned)(?: that)? {_OLD},? but (?:it|that|they|he|she|i|we) (?:should|meant|must|is|are|was|were)\b",
        "I said Tuesday, but it is Friday.",
        "tuesday",
    ),
    Ending(
        rf"\bi (?:said|told you|wrote|mentioned)(?: that)? {_OLD}[.,;] (?:that|this|which|it) (?:was|is) "
        r"(?:wrong|incorrect|a mistake|a typo|not (?:right|true|correct))\b",
        "I said Tuesday, which was wrong.",
        "tuesday",
    ),
    Ending(rf"\bnot {_OLD}(?: any ?more| any longer| after all)?,? but\b", "It is not Tuesday but Friday.", "tuesday"),
    Ending(
        rf"(?:^|[,;.] ){_OLD} (?:has |have |just |finally )*(?:came off|come off|closed)(?=[,;.]|$| so\b| last\b| yesterday\b)",
        "The cast came off.",
        "cast",
    ),
    Ending(rf"(?:^|[,;] (?:and )?)(?:not|no longer) {_OLD}{_END}", "I swim on Fridays, no longer Mondays.", "mondays"),
    Ending(
        rf"\bused to (?!hate|avoid|dislike|despise|fear|loathe|ignore|refuse|dread)\w+ {_OLD}{_END}",
        "I used to play tennis.",
        "tennis",
    ),
    Ending(
        rf"(?:^|[,;.] )(?:ignore|disregard|forget(?: about)?|nvm|never ?mind(?: about)?|scrap|skip|scratch)(?!{FOR_NOW}) {_OLD}{_END}",
        "Forget about Rome.",
        "rome",
    ),
    Ending(_BACK, "The coat is back from the cleaner.", "cleaner"),
)
"""What is not told by one wording of `ending_words` alone."""
_QUIT: Final = rf"(?P<first>\b(?:i|we)(?: \w+){{0,4}}? )?\b(?:{join(WITHDRAWING)}) {_OLD}{_END}"
_GONE: Final = (
    rf"(?:^|[,;.!] |\bbecause |\bsince |\band ){_OLD} (?:has |have |had |just |finally |was |were |is |are |got )*(?:{join(GONE)})"
    r"(?=[,;.!?]|$| and| so| last| this| to\b| by\b| the\b| make| do\b| now\b| yesterday\b| as\b)"
)
_PASSING: Final = r"\b(?:away|sick|full|fully booked|sold out|too [\w ]+|injured|broke(?: down)?|can not|could not|being \w+ed|out(?: sick)?|on [\w ]*leave)$"
_WAS: Final = re.compile(r" (?:was|were) (?:away|sick|out(?: sick)?|injured|on [\w ]*leave)$")
_CLOSED: Final = r"\b(?:closed down|shut down|out of business|passed away|died)\b"
_ADVERBS: Final = (
    r"\b(?:last (?:week|month|year|night|\w+day)|(?:a|an|two|three|some) (?:week|month|year|day|while)s? ago|yesterday|recently|today"
    r"|this (?:week|month|year|morning|season)|for good|completely|altogether|entirely)\b"
)
_DENIED: Final = r"\b(?:you (?:need|must|should) not|you can stop|there is no need to|no need to|(?:is|are|was|were|do|does|did|will|can|am|has|have|would) not|will no longer|can no longer|no longer|not)\b"
_ANY_MORE: Final = r"\b(?:any ?more|any longer|no longer|after all|these days|no more)\b"
_REPORTED: Final = r"^(?:the |my |our )?\w+ (?:says?|said|thinks?|told (?:me|us)|tells (?:me|us)) (?:that )?"
_CUES: Final = list_cues((*LEAVING, *WITHDRAWING, *GONE)) | list_word_set(
    "not longer stop stopped instead rather place from off let went sent took got shut turned traded switched give send throw said told wrote"
    " mentioned came come closed used ignore disregard forget nvm never nevermind scrap skip scratch back home returned picked collected fetched"
    " taken moved removed discharged more enough"
)
"""Words of which one stands in whatever gives something up."""
_FIRST: Final = re.compile(r"\s*(?:i|we)\b")
_POINTING: Final = re.compile(r"\s*(?:he|she|it|they|that)\b")
_CLAUSES: Final = re.compile(
    r"\s+(?:lol|haha\w*|lmao|tho)\s+|(?<=more)\s+(?=(?:it|they|he|she|my|our|i|we)\b)|\s*(?:(?<!\d)[,;:!?]|[,;:!?](?!\d)|[。，；、])+\s*(?:(?:and|but|so|because|since)\s+)?|\.\s+|\s+(?:and|but|so|because|since|und|aber|sondern|et|mais|y|pero|sino|e|ma|maar|mas)\s+|\s+[-–—]\s+"
)
_TITLE_DOTS: Final = re.compile(r"\b(St|Dr|Mr|Mrs|Ms|No|Prof)\. (?=[A-Z\d])")


_LIGHT: Final = LIGHT - {"work"}
"""To work somewhere no longer is not to live there no longer."""


class GivenUp(NamedTuple):
    """What is said to be given up.

    Attributes:
        words: The stems of what it says.
        is_clause: Whether it is a whole clause, with a subject, that is denied.
        is_first: Whether the speaker is the subject of that clause.
        is_pointing: Whether its subject is only pointed at ("she does not live there any more").
        is_back: Whether the person has only come back from it, or it is only where a way begins.
        is_gone: Whether it is a place or a person that is not there any more, or that is left for good.
        by: Who gives it up, where that is neither the speaker nor left open.
        is_completed: Whether it was brought to its end, as only what is under way can be.
        is_passing: Whether the person or thing is only away, ill or full.
    """

    words: frozenset[str]
    is_clause: bool
    is_first: bool
    is_pointing: bool
    is_back: bool = False
    is_gone: bool = False
    by: frozenset[str] = NOTHING
    is_completed: bool = False
    is_passing: bool = False


@lru_cache(maxsize=REMEMBERED_TEXTS)
def list_given_up(expanded: str) -> tuple[GivenUp, ...]:
    """What an expanded statement says is given up."""
    if _CUES.isdisjoint(WORD.findall(expanded.lower())):
        return ()
    return tuple(one for one in _find_given_up(expanded.lower()) if one.words)


def _find_given_up(lowered: str) -> Iterator[GivenUp]:
    for pattern in (one.wording for one in PATTERNS):
        for found in compile_pattern(pattern).finditer(lowered):
            given_up = _read(compile_pattern(_ADVERBS).sub(" ", found["old"]))
            by = _find_actor(lowered[: found.start()]) if pattern is _LEFT else NOTHING
            is_completed = found[0].startswith(("finished", "done with"))
            yield given_up._replace(is_back=pattern is _BACK, by=by, is_completed=is_completed)
    for found in compile_pattern(_QUIT).finditer(lowered):
        yield _read(compile_pattern(_ADVERBS).sub(" ", found["old"]))._replace(is_gone=found["first"] is not None)
    for found in compile_pattern(_GONE).finditer(lowered):
        is_passing = compile_pattern(_PASSING).search(found[0]) is not None
        if (is_passing and _WAS.search(found[0])) or is_out_of_power(found):
            continue
        yield _read(found["old"])._replace(
            is_gone=compile_pattern(_CLOSED).search(found[0]) is not None, is_passing=is_passing
        )
    clauses = split_clauses(lowered)
    for clause in (compile_pattern(_REPORTED).sub("", one) for one in clauses):
        said = compile_pattern(_DENIED).sub(" ", clause)
        if said != clause and (len(clauses) > 1 or compile_pattern(_ANY_MORE).search(clause)):
            yield _read(compile_pattern(_ANY_MORE).sub(" ", said), is_clause=True)


def _find_actor(before: str) -> frozenset[str]:
    """Who does what a clause tells, by what stands before its verb; nothing for the speaker, or where no one is named."""
    clause = _CLAUSE_START.split(before)[-1]
    return NOTHING if _FIRST.match(clause) else list_plain(list_tokens(clause)[:_SUBJECT_WORDS]) - _NOBODY


_CLAUSE_START: Final = re.compile(
    r"[,;:.!?]\s*|\b(?:and|but|so|because|since|that|then|when|after)\b\s*| [-\u2013\u2014] "
)
_SUBJECT_WORDS: Final = 3
_NOBODY: Final = list_plain(
    "please finally just recently they have has had was were is are been got will now already".split()
)


def _read(words: str, *, is_clause: bool = False) -> GivenUp:
    stems = list_plain(list_tokens(words)) - {stem("one")}
    return GivenUp(
        stems - _LIGHT if is_clause else stems,
        is_clause,
        is_clause and _FIRST.match(words) is not None,
        is_clause and _POINTING.match(words) is not None,
    )


@lru_cache(maxsize=REMEMBERED_TEXTS)
def split_clauses(text: str) -> tuple[str, ...]:
    """The clauses of a text, also those joined by "so" and "because"."""
    return tuple(part.strip(" .") for part in _CLAUSES.split(join_titles(text)) if part.strip(" ."))


def join_titles(text: str) -> str:
    """A text without the dots of "Dr. Lee" and "St. Anne's"."""
    return _TITLE_DOTS.sub(r"\1 ", text)
