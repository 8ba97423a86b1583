"""Asking: what of a prompt is looked for, and what an entry must have of it.

Theory of operation. Sentences of courtesy are left out of a prompt. Of what is left an entry must have a share of the
words, with those of the messages just before it; and one of these must be to the point: by a word that tells something,
or by several words where speaker and day count too. Where it is not the entry itself, the entry has at least a word of the
question, or replies to a question that is to the point. So what every talk is full of ("time", "today") brings nothing back by itself.

Source: docs/adr/0033-questions-and-their-replies.md.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from everfold.core.recall.courtesies import is_courtesy, is_thin
from everfold.core.statements.segments import cut_prose
from everfold.core.text.searching import MAX_QUESTION_CHARS, SearchQuery, plan_query
from everfold.core.text.trivial_prompts import is_trivial
from everfold.core.text.words import read_words

LEAST_WORDS_SHARE: Final = 0.3
MOST_WORDS_NEEDED: Final = 3
"""What an entry has at least of a question's words: that share, and no more than so many words.

Source: own measurement on the first two conversations of LoCoMo, over the first 8 hits: 0.995 of the turns that answer have
it, with their speaker's name and the words of the hits just before them, and 0.23 of the hits for questions about the other
conversation. 0.25 keeps 0.51 of those; 0.34 loses 0.03 of the turns that answer. The bound is for long prompts.
"""
_THIN_SHARE: Final = 2 / 3
"""What an entry has at least of a question whose words are all thin, small numbers apart. Source: own choice: both of two, two of three;
one alone ("Is that true?") brings nothing back."""
_SEVERAL: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a question asks for.

    Attributes:
        query: What is searched for.
        telling: Those of its words that are not thin.
    """

    query: SearchQuery
    telling: frozenset[str]

    def has_enough(self, words: Collection[str]) -> bool:
        """Whether index words are enough of the question's."""
        needed = min(math.ceil(LEAST_WORDS_SHARE * len(self.query.words)), MOST_WORDS_NEEDED)
        return len(self._find(words)) >= needed

    def has_any(self, words: Collection[str]) -> bool:
        """Whether index words have one of the question's."""
        return bool(self._find(words))

    def is_met(self, said: Collection[str], around: Collection[str] = ()) -> bool:
        """Whether index words are to the point: what was said, with its speaker and its day around it."""
        found = self._find(said)
        if not self.telling:
            needed = max(_SEVERAL, math.ceil(_THIN_SHARE * len(self.query.words)))
            return sum(not word.isdigit() for word in found) >= needed
        if not self.telling.isdisjoint(found):
            return True
        found |= self._find(around)
        return len(found) >= min(_SEVERAL, len(self.query.words)) and not self.telling.isdisjoint(found)

    def _find(self, words: Collection[str]) -> set[str]:
        """The question's words among some others; a beginning where one of those begins so."""
        beginnings = {term.words[0] for term in self.query.terms if term.is_prefix}
        found = set(self.query.words.intersection(words))
        return found | {begun for begun in beginnings if any(word.startswith(begun) for word in words)}


def find_asking(prompt: str) -> str:
    """The sentences of a prompt that ask for something; empty where none does."""
    text = prompt[:MAX_QUESTION_CHARS]
    if is_trivial(text):
        return ""
    sentences = [text[start:end] for start, end in cut_prose(text, 0, len(text))]
    asking = [one for one in sentences if not is_courtesy(one)]
    return text if len(asking) == len(sentences) else "\n".join(asking)


def read_asked(question: str) -> Asked:
    """What a question asks for. The last character of a run of CJK tells something only where nothing else does."""
    query = plan_query(question)
    thin = {word for chunk in question[:MAX_QUESTION_CHARS].split() if is_thin(chunk) for word in read_words(chunk)}
    telling = {word for word in query.words - thin if not is_thin(word)}
    ends = {term.words[0] for term in query.terms if term.is_prefix}
    return Asked(query=query, telling=frozenset(telling - ends or telling))
