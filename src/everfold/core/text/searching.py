"""Full-text search over history: what is written for a message, what a question asks for, and how hits are ordered.

One row a message with two texts. *Own* holds the message's words, its speaker's name and the words of its date;
*before* holds what was said just before, so that an answer is found by the words of its question; of what a short reply
answers it holds them several times. A question is ranked once over both, the words of *before* counting less; then hits of a speaker whom the question names rise, and
machine output and long messages sink.

Source: Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009, for the ranking with
weighted fields; our measurements in `bench/recall.py` for every weight.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple

from everfold.core.text.stems import stem
from everfold.core.text.words import read_matter, read_words

BEFORE_COUNT = 2
"""How many said messages before a message stand in its *before* text."""
BEFORE_WORDS = 16
"""What *before* takes of each: its last words, without stop words. A reply leads over at its end, and a long one must
not make a short answer long."""
BEFORE_WEIGHT = 0.3
"""What a word of *before* counts, against 1 for an own word."""
ASKED_TIMES = 3
MOST_REPLY_WORDS = 60
"""How many times *before* has the words of a question just before a message of so few words: that is most often its answer.

Source: docs/adr/0033-questions-and-their-replies.md. Recall at 1, 5 and 10 on LoCoMo's first two conversations, ranked in memory: once
.470 / .675 / .789, twice .499 / .699 / .787, three times .499 / .706 / .798, four times .499 / .716 / .795; a BEFORE_WEIGHT of .4
instead .486 / .692 / .786. Long replies have words of their own: with them too BEAM-100K, chats 1 to 10, has .577 at 10, else .580.
"""
SPEAKER_BOOST = 0.8
"""How much the score of a message grows when the question names its speaker."""
ROLE_WEIGHT = {"assistant": 0.85, "tool": 0.7, "system": 0.7}
"""What the score of a message is multiplied by, 1 for any other role: machines repeat in bulk what people said once."""
PLAIN_TOKENS = 75
LENGTH_EXPONENT = 0.4
"""The score of a message of more than PLAIN_TOKENS is multiplied by `(PLAIN_TOKENS / tokens) ** LENGTH_EXPONENT`: 0.4 at
750 tokens. A long answer takes up the words of every question, and BM25's own allowance for length does not suffice.

Source: recall at 10 on BEAM-100K, chats 1 to 10, each alone in a file / in one of eight times its rows. No weight .475 /
.451; a step at 500 characters (about 125 tokens) to 0.2 .508, 0.3 .515 / .548, 0.4 .528 / .557, 0.5 .520; this curve from
200 characters on with the exponents 0.3, 0.4, 0.5: .529 / .575, .532 / .588, .530 / .593, but LoCoMo's first two
conversations lose up to .004; from 300 on .523 / .568, .528 / .584, .530 / .584, and LoCoMo loses nothing.

Of the user's messages the one that the index puts first loses nothing: a paste that alone has the rare words of a question
stays its answer. Recall at 1, 5 and 10 on the same chats, ten users in a file, is .214 / .465 / .584 without this, .221 / .464 / .582 with it;
LoCoMo's first two conversations .465 / .688 / .780 and .466 / .688 / .780. No user's message losing anything gives BEAM .545 at 10.
"""
MAX_TERMS = 32
MAX_QUESTION_CHARS = 4_000
"""What comes later in a question is not asked for; a paste is no question."""
CANDIDATE_COUNT = 300
"""How many messages the index gives for the final order; more when a store drops some of them afterwards.

Source: BEAM-100K, chats 1 to 10 as one log of 2,362 messages; recall at 10 is .504 at 50, .529 at 100, .536 at 200, .540 at 300 and
.538 at 400 or more. On LoCoMo nothing changes between 100 and all.
"""
MIN_POSTINGS = 4_000
POSTINGS_SHARE = 5
"""One search reads MIN_POSTINGS index entries and one for every so many rows of the user, rarest terms first.

Source: bench/recall.py: 0.02 of recall at 10 is lost at a quarter of the rows, nothing at half of them.
"""
LONG_LOG_ROWS = 100_000
"""The number of rows that the bound is set for where a store does not know it."""

_BM25_K1 = 1.2
_BM25_B = 0.75

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ASKING = re.compile(
    r"\b(?:how (?:long|many|much|often|far|old)|(?:what|which) (?:kind|type|sort)s? of|"
    r"what|when|where|who|whom|whose|which|why|how)(?:['\u2019](?:s|d|re|ll|ve))?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_NAMES = "|".join(_MONTHS)
_DATE = re.compile(
    r"\b(?:(?P<iso_year>\d{4})-(?P<iso_month>\d\d?)-(?P<iso_day>\d\d?)"
    rf"|(?P<day>\d\d?)(?:st|nd|rd|th)? (?:of )?(?P<month>{_NAMES}),? (?P<year>\d{{4}})"
    rf"|(?P<name>{_NAMES}) (?P<after>\d\d?)(?:st|nd|rd|th)?,? (?P<last>\d{{4}}))\b",
    re.IGNORECASE,
)


class SearchText(NamedTuple):
    """What the index holds for one message: space-separated words, ready for any store. One is made for every message.

    Attributes:
        own: The message's words, its speaker and its date.
        before: The words of the message before; empty for a message that no person said.
    """

    own: str
    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTerm:
    """One thing to look for: a word, several words in a row, or a beginning of words.

    Attributes:
        words: One index word, or the words of a quoted phrase in order.
        is_prefix: The word may go on; only with a single word.
    """

    words: tuple[str, ...]
    is_prefix: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """The query of a question. Any term may match; more and rarer ones rank higher.

    Attributes:
        terms: Phrases, days, then words in the question's order, each once, at most MAX_TERMS; none when the question has no word at all.
    """

    terms: tuple[SearchTerm, ...]

    @property
    def words(self) -> frozenset[str]:
        """The single words of the terms."""
        return frozenset(word for term in self.terms for word in term.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCandidate:
    """A message that the index gave, before the final order.

    Attributes:
        key: The store's integer id of the message; of two equal hits the higher one is newer and comes first.
        score: The index's score, positive, higher is better.
        speaker: The name that was indexed.
        role: The message's role.
        tokens: The fixed estimate of the whole message.
    """

    key: int
    score: float
    speaker: str
    role: str
    tokens: int


def index_text(text: str, *, speaker: str, said_at: datetime, before: Sequence[str] = ()) -> SearchText:
    """The words that the index holds for a message. O(length of the texts).

    Args:
        text: All text of the message.
        speaker: Who said it: a name, or the role.
        said_at: When; its own offset decides the day.
        before: The texts of the said messages before it, newest first; BEFORE_COUNT are used. Nothing for a
            message that no person said (a tool result, a refresh, a tick).
    """
    matter = _matter(text)
    own = (matter, _who_and_when(speaker, said_at.date()))
    earlier = [_end(said) for said in before[:BEFORE_COUNT]]
    if before and is_question(before[0]) and matter.count(" ") < MOST_REPLY_WORDS:
        earlier[:1] *= ASKED_TIMES
    return SearchText(" ".join(filter(None, own)), " ".join(filter(None, earlier)))


def is_question(text: str) -> bool:
    """Whether a text ends with a question, so that what comes next may be its answer."""
    return text.rstrip(" \n\t\"'\u201d)").endswith(("?", "\uff1f", "\u061f"))


_matter = lru_cache(maxsize=BEFORE_COUNT + 2)(read_matter)
"""The words of the last few texts: the next messages take them as their *before*."""


@lru_cache(maxsize=BEFORE_COUNT + 2)
def _end(said: str) -> str:
    """What *before* takes of a text."""
    matter = _matter(said)
    words = matter.rsplit(" ", BEFORE_WORDS)
    return matter[len(words[0]) + 1 :] if len(words) > BEFORE_WORDS else matter


@lru_cache(maxsize=64)
def _who_and_when(speaker: str, day: date) -> str:
    """The speaker; then month, year, weekday, and the day as one word (20230508)."""
    month, weekday = stem(_MONTHS[day.month - 1]), stem(_WEEKDAYS[day.weekday()])
    words = (*read_words(speaker), month, str(day.year), weekday, _day_word(day.year, day.month, day.day))
    return " ".join(words)


def _day_word(year: int, month: int, day: int) -> str:
    return f"{year:04}{month:02}{day:02}"


def plan_query(question: str) -> SearchQuery:
    """What to look for. Never raises; operators of any query language are plain text.

    Question words are dropped, unless nothing else is there; stop words always, the index has none. A quoted phrase
    is one more term. A full date adds its day as the index writes it. A CJK character alone is looked for as a
    beginning.
    """
    question = question[:MAX_QUESTION_CHARS]
    terms = [SearchTerm(words=words) for words in _phrases(question)]
    terms += [_single(word) for word in (*_mentioned_days(question), *_read_asked(question))]
    return SearchQuery(terms=tuple(dict.fromkeys(terms))[:MAX_TERMS])


def plan_every_query(question: str) -> SearchQuery:
    """What a message holds all of: the words and quoted phrases of a question as in `plan_query`, without the days."""
    question = question[:MAX_QUESTION_CHARS]
    terms = [SearchTerm(words=words) for words in _phrases(question)]
    terms += map(_single, _read_asked(question))
    return SearchQuery(terms=tuple(dict.fromkeys(terms))[:MAX_TERMS])


def _read_asked(question: str) -> list[str]:
    """The index words of a question without its question words, unless it has no others."""
    return (read_matter(_ASKING.sub(" ", question)) or read_matter(question)).split()


def plan_exact_query(text: str) -> SearchQuery:
    """What finds the rows that hold all index words of a text in a row; no terms for stop words alone."""
    words = tuple(read_matter(text[:MAX_QUESTION_CHARS]).split())
    if len(words) == 1:
        return SearchQuery(terms=(_single(words[0]),))
    return SearchQuery(terms=(SearchTerm(words=words),) if words else ())


def _single(word: str) -> SearchTerm:
    return SearchTerm(words=(word,), is_prefix=len(word) == 1 and not word.isascii())


def _phrases(question: str) -> list[tuple[str, ...]]:
    quoted = (read_matter(straight or curly).split() for straight, curly in _QUOTED.findall(question))
    return [tuple(words[:MAX_TERMS]) for words in quoted if len(words) > 1]


def _mentioned_days(question: str) -> list[str]:
    return [_read_day(match) for match in _DATE.finditer(question)]


def _read_day(match: re.Match[str]) -> str:
    """The day as the index writes it; a day that no calendar has is a word like any other."""
    name = (match["month"] or match["name"] or "").lower()
    month = _MONTHS.index(name) + 1 if name else int(match["iso_month"])
    day = match["day"] or match["iso_day"] or match["after"]
    year = match["year"] or match["iso_year"] or match["last"]
    return _day_word(int(year), month, int(day))


def choose_terms(query: SearchQuery, entry_counts: Mapping[str, int], *, row_count: int = LONG_LOG_ROWS) -> SearchQuery:
    """The query without its most common terms, so that a search of a long log reads a bounded part of the index.

    Args:
        query: The plan.
        entry_counts: How many rows of the user hold each word; a word that is missing counts as in none. A phrase
            costs what its rarest word does, a beginning of words nothing.
        row_count: How many rows the user has, about: it only sets the bound. The rarest term stays whatever it costs.
    """
    chosen = _take_rarest(query, entry_counts, bound_entries(row_count))
    if not chosen and query.terms:
        chosen.add(min(query.terms, key=lambda term: _read_cost(term, entry_counts)))
    return _pick_terms(query, chosen)


def bound_entries(row_count: int) -> int:
    """How many index entries one search of a user with about so many rows reads; a word in more rows need not be counted further."""
    return MIN_POSTINGS + row_count // POSTINGS_SHARE


def part_terms(
    query: SearchQuery, entry_counts: Mapping[str, int], *, entries_count: int
) -> tuple[SearchQuery, SearchQuery]:
    """The rarest terms of a query, which hold no more index entries than given, and the others.

    Args:
        query: The plan.
        entry_counts: As in `choose_terms`; a count above `entries_count` need not be exact.
        entries_count: How many entries a search of the first part reads at most.
    """
    chosen = _take_rarest(query, entry_counts, entries_count)
    return _pick_terms(query, chosen), _pick_terms(query, set(query.terms) - chosen)


def _take_rarest(query: SearchQuery, entry_counts: Mapping[str, int], left: int) -> set[SearchTerm]:
    kept: set[SearchTerm] = set()
    for term in sorted(query.terms, key=lambda each: _read_cost(each, entry_counts)):
        left -= _read_cost(term, entry_counts)
        if left < 0:
            break
        kept.add(term)
    return kept


def _read_cost(term: SearchTerm, entry_counts: Mapping[str, int]) -> int:
    return min(entry_counts.get(word, 0) for word in term.words)


def _pick_terms(query: SearchQuery, terms: Collection[SearchTerm]) -> SearchQuery:
    return SearchQuery(terms=tuple(term for term in query.terms if term in terms))


def order_hits(query: SearchQuery, candidates: Iterable[SearchCandidate]) -> list[SearchCandidate]:
    """The candidates in final order with their final scores: named speakers up, machine output and long messages down.

    Of equal ones the newer is first. The best of the user's messages, where one is, loses nothing for its length.

    Args:
        query: The whole plan, so that a name counts that was too common to be looked for.
        candidates: What the index gave.
    """
    several, asked = list(candidates), query.words
    named = {speaker for speaker in {one.speaker for one in several} if not asked.isdisjoint(read_words(speaker))}
    scores = sorted([one.score for one in several if one.role == "user"], reverse=True)[:2]
    best = scores[0] if scores and len(set(scores)) == len(scores) else None
    ranked = [
        _weigh(one, is_named=one.speaker in named, is_best=one.role == "user" and one.score == best) for one in several
    ]
    return sorted(ranked, key=lambda hit: (-hit.score, -hit.key))


def _weigh(candidate: SearchCandidate, *, is_named: bool, is_best: bool) -> SearchCandidate:
    """The candidate with its final score; the best of the user's loses nothing for its length."""
    weight = ROLE_WEIGHT.get(candidate.role, 1.0) * (1 + SPEAKER_BOOST if is_named else 1)
    if candidate.tokens > PLAIN_TOKENS and not is_best:
        weight *= (PLAIN_TOKENS / candidate.tokens) ** LENGTH_EXPONENT
    return SearchCandidate(
        key=candidate.key,
        score=candidate.score * weight,
        speaker=candidate.speaker,
        role=candidate.role,
        tokens=candidate.tokens,
    )


class Corpus(NamedTuple):
    """How many documents there are, and how many words they have together."""

    documents_count: int
    words_count: int


def rank_documents(
    query: SearchQuery,
    documents: Sequence[SearchText],
    *,
    whole: Corpus | None = None,
    entry_counts: Mapping[SearchTerm, int] | None = None,
) -> list[tuple[int, float]]:
    """Position and score of each document that matches, best first; BM25 over both texts. O(all words).

    Where `whole` is given, the documents are all of a larger number that may match. Where `entry_counts` is given too, they
    are some of those: it says how many of the larger number hold each term.

    The formula is that of SQLite's FTS5: term counts weighted by field, length over all fields, and the inverse
    frequency floored just above zero.

    Source: sqlite.org/fts5.html, "The bm25() function".
    """
    if not documents:
        return []
    texts = [(document.own.split(), document.before.split()) for document in documents]
    lengths = [len(own) + len(before) for own, before in texts]
    whole = whole or Corpus(len(texts), sum(lengths))
    average = whole.words_count / whole.documents_count or 1.0
    scores: defaultdict[int, float] = defaultdict(float)
    for term, counts in _count_terms(query, texts).items():
        holding_count = len(counts) if entry_counts is None else entry_counts[term]
        rarity = max(1e-6, math.log((whole.documents_count - holding_count + 0.5) / (holding_count + 0.5)))
        for at, count in counts.items():
            spread = _BM25_K1 * (1 - _BM25_B + _BM25_B * lengths[at] / average)
            scores[at] += rarity * count * (_BM25_K1 + 1) / (count + spread)
    return sorted(scores.items(), key=lambda item: (-item[1], -item[0]))


def _count_terms(
    query: SearchQuery, texts: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> dict[SearchTerm, dict[int, float]]:
    """For each term, in order, the texts that hold it by their positions, and how often: its own words, and what was said before."""
    counts: dict[SearchTerm, dict[int, float]] = {term: {} for term in query.terms}
    words = {term.words[0]: term for term in query.terms if len(term.words) == 1 and not term.is_prefix}
    others = [term for term in query.terms if words.get(term.words[0]) != term]
    for at, (own, before) in enumerate(texts):
        in_own, in_before = Counter(filter(words.__contains__, own)), Counter(filter(words.__contains__, before))
        for word in in_own.keys() | in_before.keys():
            counts[words[word]][at] = in_own[word] + BEFORE_WEIGHT * in_before[word]
        for term in others:
            if count := _count(term, own) + BEFORE_WEIGHT * _count(term, before):
                counts[term][at] = count
    return counts


def _count(term: SearchTerm, words: Sequence[str]) -> int:
    """How often a phrase, or a beginning of words, stands in a text."""
    if term.is_prefix:
        return sum(word.startswith(term.words[0]) for word in words)
    places = [at for at, word in enumerate(words) if word == term.words[0]]
    return sum(tuple(words[at : at + len(term.words)]) == term.words for at in places)
