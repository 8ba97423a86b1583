"""Pronouns: whether a rule names what it speaks of only by a word that stands for it ("Never restart it.").

Theory of operation: a pronoun stands for no other object of its own clause: in "Always forward them to Carla" Carla is not
them. Only a noun of an earlier clause of the same sentence can name its thing ("When a file is large, split it."), and what
such a clause has beside its verb and its words of grammar is taken for one. A possessive may have its owner in its own
clause ("Greet customers by their name."). Phrases in which the word stands for nothing ("if it rains", "keep it short") are
left out first. English alone.

Source: principle B of Chomsky, "Lectures on Government and Binding" (1981); own lists.
"""

import re
from typing import Final

from everfold.core.statements.rules import IMPERATIVES, list_word_set

_APART: Final = re.compile(
    r"\bit(?:'\w+|(?= (?:is|was|will|would|has|had|does|doesn't|rains|snows|gets|takes|looks|seems|comes|turns|feels|sounds|says|goes|makes|helps|works|matters"
    r"|happens|depends|fails|fits|suits|needs)\b))"
    r"|\b(?:appreciate|like|love|hate|prefer|enjoy|want|need) it (?:when|if|that)\b"
    r"|\b(?:take it (?:easy|slow)|believe it|make it (?:a|clear|possible|sure|back|home|easy)|find it \w+|put it (?:another|simply)|mean it|worth it|call it a day|leave it at|as it stands|that's it|is it|just do it)\b"
    r"|\b(?:keep|make|play|cut) it (?:(?:very|really|as|a bit|more|less) )*(?:short\w*|brief|simple\w*|light|plain|concise|formal|informal|casual|friendly|polite|factual|clear|real|positive|low-key|snappy|tight|long\w*|nice|fun|professional"
    r"|(?:under|below|to|within|at|around) (?:about |at most |max )?(?:\d+|one|two|three|four|five|six|ten|the point|a)\b)"
    r"|\b(?:these|those) days\b|\bthose (?:who|that|which)\b|\bthat (?:order|case|is|way|said)\b|\b(?:than|all|so) that\b"
)
"""Where such a word stands for nothing that was named, or for the answer itself."""
_BEHIND: Final = (
    r"[,.!;:)]|$| (?:any ?more|in mind|from now|for (?:me|every|each|all)|to (?:me|him|her|them|any\w*|no \w+)|with (?:any\w*|others|no \w+)|(?:in|on|at) (?:any|every|all|each|my|your|our)"
    r"|before|after|when|whenever|if|unless|until|every|each|always|again|ever|please|too|as well|down|up|first|only|instead|a (?:day|week|month)|by)\b"
)
"""What follows a "this" or "that" which is an object, and neither a conjunction nor before its noun."""
_POINTING: Final = re.compile(
    r"\b(?:it|him|her|them|he|she|they|these|those)\b"
    rf"|(?<=\w )(?<!remember )(?<!note )(?<!sure )(?<!ensure )(?<!assume )(?<!know )(?:this|that)(?={_BEHIND})"
    r"|\b(?:during|at|about|with|from|of|near|by|after|before) that (?!i\b|you\b|we\b|they\b|he\b|she\b|it\b)\w+"
    r"|\b(?:the (?:other|same|first|second|last|new|old|next)|this|that|another) ones?\b(?! (?:who|that|which|with|of|i|you|we|\w+ing)\b)"
    r"|\bthe (?:others|latter|former)\b"
)
_OWNING: Final = re.compile(r"\b(?:his|their|its)(?= \w)")
_OPENED: Final = re.compile(
    r"(?:(?:(?:from|as of|starting) (?:now|today|here|tomorrow|next \w+|\w+day)(?: on| onwards?)?|(?:in|for) (?:the |all )?future|going forward|as a rule|in general|at all (?:times|costs)|under no circumstances|next time|by the way"
    r"|(?:if|when|where|whenever|wherever) (?:possible|needed|necessary|in doubt|unsure)|(?:in|on|at|during|since|until) [^,;:.]{1,40}(?=,)"
    r"|whatever (?:happens|you do|it takes)|no matter what|please|and|but|so|also|just|oh|ok|okay|well|btw|then|yes|no|important|rule)\b[,:;!]* *)*"
)
"""What a rule opens with that names no thing: words that grade it, and when or where it holds."""
_BREAK: Final = re.compile(
    r"[,;:.!?\u2014\u2013] ?| - |\b(?:and|or|but|nor|before|after|when|whenever|where|wherever|if|unless|until|till|while|once|as|that|which|who|so|because(?! of)|since|than|without|then)\b"
    r"|\b(?:by|for|of|about|from) (?=\w+ing\b)"
)
"""Where a clause begins."""
_VERB: Final = re.compile(
    r"(?:^|(?<=[,;:.!?] )|(?<=[,;:.!?])|\b(?:and|or|but|then|not|never|always|only|ever|don't|do|doesn't|does|did|must|should|shouldn't|can|can't|cannot|will|won't|would|may|might|could|please|just|also"
    r"|i|i'd|i'll|i've|you|you'd|you'll|we|we'd|we'll|we've|he|she|they|it|to be|be sure to|(?:want|like|remember|need|have|try|sure|going|go|about|ready) to|when|whenever|before|after|while|without|by|if|unless|until)\b)"
    r" ?(?:(?:really|always|never|only|ever|also|just|not|have|has|had|do|does|did|am|are|is|was|were|be|been|to|out|ahead|and|or) )*[\w'-]+"
)
"""The verb of a clause with what stands before it."""
_NO_THINGS: Final = IMPERATIVES | list_word_set(
    "always never ever only just also please not don't anyone anybody someone somebody everyone everybody anything something everything nothing"
    " sure possible needed necessary doubt now then here there again first later soon today tomorrow yesterday twice once every each all any some"
    " no more less very really too so well still even future me you us him her them it they he she we i my your our his its their the a an this"
    " that these those to of in on at for with from by about into up out off over down under and or but if when before after as than be is are was were do does did have has had"
    " want like sure how what who where why which will would can could should must may might shall"
)
"""What names no thing, wherever it stands."""
_WORD: Final = re.compile(r"[^\W\d_][\w'-]+|\d[\w.-]*")


_PLURAL: Final = re.compile(r"(?:them|they|these|those|their)\b").match
_SEVERAL: Final = re.compile(r"\b(?:an?|any|each|every|another|no|some) (?!time\b)\w+")
"""One of many, of whom "they" is said as well."""
_PEOPLE: Final = list_word_set(
    "people children men women folks team staff crew family police data media everyone everybody user customer client guest caller patient"
    " visitor reader employee colleague tenant student child person parent"
)


def points_back(lowered: str) -> bool:
    """Whether a sentence, in lower case with plain apostrophes, speaks of something that only one before it names. O(length)."""
    plain = _APART.sub(" - ", lowered)
    opened = _OPENED.match(plain)
    start = opened.end() if opened else 0
    pointing = [(found[0], _cut_clause(plain[start : found.start()])) for found in _POINTING.finditer(plain, start)]
    owning = [(found[0], plain[start : found.start()]) for found in _OWNING.finditer(plain, start)]
    return any(not _names(before, is_plural=_PLURAL(word) is not None) for word, before in (*pointing, *owning))


def _cut_clause(before: str) -> str:
    """The clauses before the last one of a text, which is the pronoun's own."""
    *_, last = (0, *(found.start() for found in _BREAK.finditer(before)))
    return before[:last]


def _names(clauses: str, *, is_plural: bool) -> bool:
    """Whether clauses hold a word that is neither their verb nor one of grammar; of several things where it `is_plural`."""
    words = [word for word in _WORD.findall(_VERB.sub(" ", clauses)) if word not in _NO_THINGS]
    if not is_plural or not words:
        return bool(words)
    return any(map(_is_plural, words)) or _SEVERAL.search(clauses) is not None


def _is_plural(word: str) -> bool:
    return word in _PEOPLE or (word.endswith("s") and not word.endswith(("ss", "'s", "us", "is")))
