"""Whether a newer statement says that the state which an older one tells has ended: "is back", "found a flat", "had her baby".

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.replacement.assertions import REMEMBERED_TEXTS, list_tokens, read_assertion
from everfold.core.replacement.frames import GENERIC, LIGHT, TIMES, Frame, counts, list_plain, make_plain
from everfold.core.replacement.given_up import split_clauses
from everfold.core.replacement.other_things import names_another
from everfold.core.statements.quotes import is_negative
from everfold.core.text.patterns import compile_pattern


class _State(NamedTuple):
    """A state, and the words that say that it has ended.

    Attributes:
        holds: How an older statement tells it, behind its subject.
        ended: How a newer one ends it.
        has_object: Whether what stands behind the words has to be the same: what is sought, needed or owed.
    """

    holds: str
    ended: str
    has_object: bool = False


_STATES: Final = (
    _State(r"\b(?:closed|shut|blocked)\b", r"\b(?:re-?opened|open again|clear again)\b"),
    _State(
        r"\b(?:out of order|broken|down|not working|out of service|faulty|leak\w*|cracked|jammed)\b",
        r"\b(?:fixed|repaired|mended|works again|working again|back up|back in service|been replaced|got replaced)\b",
    ),
    _State(r"\b(?:unpaid|outstanding|overdue|not paid)\b", r"\b(?:paid|settled)\b"),
    _State(
        r"\b(?:out|away|on [\w ]*leave|on vacation|on holiday|off sick|sick|in hospital|in the hospital|working from home)\b",
        r"\b(?:is back|back from|are back|discharged|(?:is|came|went|back) home|am back|well again|recovered)\b",
    ),
    _State(r"\b(?:in the shop|in (?:for )?repairs?|being repaired|in for (?:a )?service|at the (?:garage|mechanic))\b", r"\bback\b"),
    _State(r"\b(?:single|engaged)\b", r"\b(?:got|is|am|are|just) (?:now )?married\b|\bmarried (?:last|in|on|him|her)\b"),
    _State(r"\b(?:married|engaged)\b", r"\b(?:divorced|split up|separated|broke (?:up|off)|called off the (?:wedding|engagement))\b"),
    _State(r"\b(?:pregnant|expecting)\b", r"\b(?:had (?:her|his|my|our|the|a|their) (?:\w+ )?(?:baby|twins|son|daughter|boy|girl)|gave birth|was born|were born)\b"),
    _State(r"\b(?:unemployed|out of work|between jobs|looking for (?:a (?:new )?job|work))\b", r"\b(?:got|found|started|start|landed|accepted|have|took) (?:my|the|a|an|at|as) (?:\w+ ){0,2}?(?:job|position|work)(?=[,;.!]|$| (?:at|as|in|with|on|last|today|yesterday)\b)|\bstarted (?:working )?(?:at|with)\b"),
    _State(r"\b(?:allowed|permitted|enabled|turned on|switched on)\b", r"\b(?:disabled|forbidden|banned|prohibited|(?:switched|turned) (?:\w+ ){0,4}?off)\b"),
    _State(r"\b(?:off|disabled|turned off|switched off|forbidden|banned)\b", r"\b(?:enabled|(?:switched|turned) (?:\w+ ){0,4}?on|allowed again)\b"),
    _State(r"\b(?:paused|on hold|suspended|halted|frozen|on strike|stuck)\b", r"\b(?:resumed|restarted|running again|unfrozen|going again|cleared|released|back on|ended|moving again)\b"),
    _State(r"\b(?:pending|under review|in review|awaiting approval|not approved|waiting for approval)\b", r"\b(?:approved|granted|accepted|rejected|denied|came through|merged)\b"),
    _State(r"\b(?:on the (?:waiting|wait) ?list|waitlisted|on the waitlist)\b", r"\b(?:got (?:a|the|her|his|my|their) (?:place|spot)|got in|got into|accepted|has a (?:place|spot))\b"),
    _State(r"\b(?:for sale|on the market)\b", r"\b(?:sold|off the market)\b"),
    _State(r"\b(?:waiting (?:for|on)|awaiting|expecting)\b", r"\b(?:arrived|came|come|got|received|here|delivered)\b", has_object=True),
    _State(r"\b(?:looking for|searching for|hunting for|in need of|(?:need|needs|want|wants)(?= (?:a|an|another|new)\b))", r"\b(?:found|got|bought|hired|ordered|fitted|installed|replaced|adopted)\b", has_object=True),
    _State(r"\b(?:lost|missing|misplaced|can not find)\b", r"\b(?:found|turned up|got back|recovered|showed up)\b", has_object=True),
    _State(r"\b(?:owe|owes)\b", r"\b(?:paid|repaid|settled)\b", has_object=True),
    _State(r"\b(?:rent|renting|lease|leasing)\b", r"\bbought\b", has_object=True),
)  # fmt: skip


def has_ended_state(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the state that the older clause tells has ended, for the same thing or person."""
    holding = _list_holding(" ".join(frame.clause.tokens[frame.clause.verb_at :]))
    if not holding or is_negative(told):
        return False
    return any(_ends(state, told) and _is_of_same(state, holds, told, words, frame) for state, holds in holding)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_holding(predicate: str) -> tuple[tuple[_State, str], ...]:
    """The states that an older clause tells, each with its words."""
    found = ((state, compile_pattern(state.holds).search(predicate)) for state in _STATES)
    return tuple((state, match[0]) for state, match in found if match is not None)


def _is_of_same(state: _State, holds: str, told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the newer statement names who or what the older one tells the state of, and its object where it has one."""
    if not state.has_object:
        if _is_elsewhere(holds, told, words, frame):
            return False
        if not frame.clause.is_first:
            return bool(frame.subject) and (frame.subject - GENERIC or frame.subject) <= words
        return any(_ends(state, clause) and read_assertion(clause).is_first for clause in split_clauses(told))
    sought = make_plain(frame.clause.predicate) - list_plain(holds.split()) - LIGHT - GENERIC - TIMES
    sought = sought - list_plain(token for token in frame.clause.tokens if counts(token) or not token.isalpha())
    if not sought or any(phrase.sort == "when" or "often" in phrase.unit for phrase in frame.phrases):
        return False
    if not sought <= words or not (frame.subject - GENERIC or frame.subject) <= words:
        return False
    if names_another(told, sought, make_plain(frame.clause.content)):
        return False
    return not frame.clause.is_first or any(
        _ends(state, clause) and _tells_own(state, clause, sought) for clause in split_clauses(told)
    )


def _ends(state: _State, clause: str) -> bool:
    return compile_pattern(state.ended).search(clause.lower()) is not None


def _tells_own(state: _State, clause: str, sought: frozenset[str]) -> bool:
    """Whether the speaker is the subject of a clause, or what they sought is and has come or was found."""
    if read_assertion(clause).is_first:
        return True
    found = compile_pattern(state.ended).search(clause.lower())
    before = list_tokens(clause.lower()[: found.start()]) if found else ()
    is_passive = found is not None and (found[0] in _COMING or not _PASSIVE.isdisjoint(before))
    return is_passive and sought <= list_plain(before)


_COMING: Final = frozenset(("arrived", "came", "come", "here", "delivered", "turned up", "showed up"))
_PASSIVE: Final = frozenset(("is", "are", "was", "were", "been"))


def _is_elsewhere(holds: str, told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether another phrase of a kind that the older clause has is told: comments are off here and on there."""
    joins = list_tokens(told.lower())
    return any(
        phrase.join in joins and phrase.join and phrase.words.isdisjoint(words | list_plain(holds.split()) | TIMES)
        for phrase in frame.phrases
    )
