"""The index of words in PostgreSQL: GIN finds the candidates, the core ranks them.

Source: Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009, by
`everfold.core.text.searching.rank_documents`; PostgreSQL's documentation of text search types.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import NamedTuple, cast

from everfold.adapters.sql.database import Bound, Database, Indexed, Row, TermCounts
from everfold.adapters.sql.matching import key_words, write_filter, write_item_scope
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.log.sessions import NO_END
from everfold.core.text.searching import Corpus, SearchQuery, SearchTerm, SearchText, rank_documents

LEAST_CANDIDATES = 400
"""How many rows that match are ranked at least. Source: DESIGN.md, a prototype's recall over 400 candidates."""

FINDING_ENTRIES = 1_000
"""The rarest terms find the candidates, until they have found so many messages; the others only weigh what was found.

Source: own measurement in 100,000 messages of one user among a million, 100 questions, times with all pages in memory. The first ten
hits that are those of exact counts over all messages that match, and the 95th percentile of a search: every term finds .926, 78 ms;
4,000 .926, 63; 2,000 .922, 65; 1,000 .924, 44; 500 .911. The first hits are the same in 92 of 100, and with 500 in 91.
"""

ALL_FIND_ENTRIES = 6_000
"""Where all terms together are held by fewer messages than that, each counted once for every term it holds, all of them find: that is
faster then. Source: own measurement in a log of 1,100 messages, five prompts with 25 to 31 terms, held 5,500 times: 18 ms where all
find and 22 where the rarest do, so 3 us for what finds and 17 for what is weighed.
"""

COUNTED_ENTRIES = 2_000
"""How many messages that hold a word are counted. In a longer log a sample of 300 tells of words of which it lets expect more.

Source: in 100,000 messages as above, while every term finds, counting each word first takes 15 ms at the median instead of 6, and
.928 instead of .926 of the first ten hits are those of exact counts. In a log of 1,100 messages the sample takes 28 ms and counting 8.
"""


class PostgresWords:
    """The tables of words, by one connection; see `everfold.adapters.sql.database.WordIndex`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert_messages(self, rows: Sequence[Row], words: Sequence[Row]) -> None:
        """See the protocol. One query a message inserts both."""
        self._database.run_each("insert_message", [(*row, *found) for row, found in zip(rows, words, strict=True)])

    def ask_counts(
        self,
        kind: Indexed,
        query: SearchQuery,
        user_key: int,
        *,
        place: int | None = None,  # noqa: ARG002 - all rows of the user are counted
        most_count: int = NO_END,  # noqa: ARG002 - they are counted to the end
    ) -> list[Bound]:
        """See the protocol. One query counts everything."""
        terms = "\n".join(_write_term(_key_term(term, user_key)) for term in _list_counted(query))
        if kind == "message":
            return [("count_message_terms", {"user_key": user_key, "terms": terms, "most_count": COUNTED_ENTRIES})]
        return [("count_item_terms", {"user_key": user_key, "terms": terms})]

    def read_counts(self, query: SearchQuery, found: Sequence[Sequence[Row]]) -> TermCounts:
        """See the protocol."""
        (documents_count, words_count), *rows = cast("list[tuple[int, int]]", found[0])
        counts = dict(zip(_list_counted(query), (count for count, _ in rows), strict=True))
        return TermCounts(
            words={term.words[0]: count for term, count in counts.items() if _is_word(term)},
            terms={term: count for term, count in counts.items() if not _is_word(term)},
            whole=Corpus(documents_count, words_count),
        )

    def find_messages(
        self,
        query: SearchQuery,
        user_key: int,
        *,
        agent_key: int | None,
        session_keys: Sequence[int],
        only: SearchFilter,
        counts: TermCounts,
        limit_count: int,
    ) -> list[Row]:
        """See the protocol. Where the rarest terms find too few, as in a short session of a long log, every term finds."""
        agents = [] if agent_key is None else [f"'{user_key}__a{agent_key}'"]
        sessions = [_any_of(f"'{user_key}__s{session_key}'" for session_key in session_keys)] if session_keys else []
        asked = _count(query, user_key, counts)
        ask = partial(self._ask_messages, user_key, [*agents, *sessions], only, max(LEAST_CANDIDATES, limit_count))
        finding, others = asked.part()
        rows = ask(finding, others)
        if others and len(rows) < limit_count:
            rows = ask([*finding, *others], [])
        rows.sort(key=_key)
        documents = [SearchText(own=cast("str", row[1]), before=cast("str", row[2])) for row in rows]
        ranked: list[Row] = [(rows[at][0], score, *rows[at][3:]) for at, score in asked.rank(documents)]
        return ranked[:limit_count]

    def _ask_messages(
        self,
        user_key: int,
        scopes: Sequence[str],
        only: SearchFilter,
        candidate_count: int,
        finding: "Sequence[_Weighed]",
        others: "Sequence[_Weighed]",
    ) -> list[Row]:
        """The messages that hold any of the first terms; of more than are asked for those that hold the rarest of all."""
        return self._database.rows(
            "search_messages" if only == ANY_MESSAGE else "search_some_messages",
            user_key=user_key,
            terms="\n".join(_within((each.term for each in finding), scopes)),
            weights=_write_weights(finding),
            others="\n".join(each.term for each in others),
            other_weights=_write_weights(others),
            candidate_count=candidate_count,
            **write_filter(only),
        )

    def find_holding(
        self,
        query: SearchQuery,
        user_keys: Sequence[int],
        *,
        agent_key: int | None,
        only: SearchFilter,
        limit_count: int,
    ) -> list[Row]:
        """See the protocol. The index tells who holds all the words, also before their own; patterns which are their own."""
        terms = [_key_terms(query, user_key) for user_key in user_keys]
        agents = ["" if agent_key is None else f" & '{user_key}__a{agent_key}'" for user_key in user_keys]
        return self._database.rows(
            "find_holding",
            user_keys="\n".join(map(str, user_keys)),
            terms="\n".join(
                " & ".join(map(_write_term, one)) + agent for one, agent in zip(terms, agents, strict=True)
            ),
            patterns="\n".join("\t".join(map(_write_pattern, one)) for one in terms),
            limit_count=limit_count,
            **write_filter(only),
        )

    def find_items(
        self, query: SearchQuery, user_key: int, *, place: int | None, counts: TermCounts, limit_count: int
    ) -> list[Row]:
        """See the protocol."""
        asked = _count(query, user_key, counts)
        rows = self._database.rows(
            "search_items",
            user_key=user_key,
            terms="\n".join(_within((each.term for each in asked.terms), _write_scopes(user_key, place))),
            weights=_write_weights(asked.terms),
            candidate_count=max(LEAST_CANDIDATES, limit_count),
        )
        rows.sort(key=_key)
        documents = [SearchText(own=cast("str", row[1]), before="") for row in rows]
        ranked: list[Row] = [(rows[at][2], score) for at, score in asked.rank(documents)]
        return ranked[:limit_count]

    def find_newest_items(self, query: SearchQuery, user_key: int, *, place: int | None, limit_count: int) -> list[Row]:
        """See the protocol."""
        match = _write_item_match(map(_write_term, _key_terms(query, user_key)), user_key, place)
        return self._database.rows("find_newest_items", user_key=user_key, match=match, limit_count=limit_count)

    def wipe_items(self, user_key: int) -> None:
        """See the protocol."""
        self._database.run("wipe_item_words", user_key=user_key)

    def merge_messages(self) -> None:
        """Nothing: what is deleted goes when the server next cleans the table."""


def _list_counted(query: SearchQuery) -> list[SearchTerm]:
    """What is counted for a query: each of its words, then its phrases and beginnings."""
    words = [SearchTerm(words=(word,)) for word in sorted(query.words)]
    return [*words, *(term for term in query.terms if not _is_word(term))]


def _is_word(term: SearchTerm) -> bool:
    return len(term.words) == 1 and not term.is_prefix


def _count(query: SearchQuery, user_key: int, counts: TermCounts) -> "_Asked":
    """A query with what the whole index of a user says of its terms."""
    entry_counts = {
        _key_term(term, user_key): counts.words[term.words[0]] if _is_word(term) else counts.terms[term]
        for term in query.terms
    }
    # One of the two may be an estimate, and where all is empty the first rows may come before they are looked for.
    most_count = max(1, counts.whole.documents_count, *entry_counts.values())
    return _Asked(
        query=SearchQuery(terms=tuple(entry_counts)),
        entry_counts=entry_counts,
        whole=Corpus(most_count, counts.whole.words_count),
    )


def _key_terms(query: SearchQuery, user_key: int) -> tuple[SearchTerm, ...]:
    """The terms of a query with the user's key in front of each word."""
    return tuple(_key_term(term, user_key) for term in query.terms)


def _key_term(term: SearchTerm, user_key: int) -> SearchTerm:
    return SearchTerm(words=tuple(key_words(user_key, word) for word in term.words), is_prefix=term.is_prefix)


def _write_item_match(terms: Iterable[str], user_key: int, place: int | None) -> str:
    """What finds the items that hold any of the terms: all of a user's, or those of the user tier and of a place."""
    return " & ".join([_any_of(terms), *_write_scopes(user_key, place)])


def _write_scopes(user_key: int, place: int | None) -> list[str]:
    """What finds the items of the user tier and of a place; nothing where every item is asked for."""
    if place is None:
        return []
    return [_any_of(f"'{write_item_scope(user_key, place=one)}'" for one in dict.fromkeys((0, place)))]


def _within(terms: Iterable[str], scopes: Sequence[str]) -> list[str]:
    """Each term, where all the scopes are."""
    return [" & ".join([term, *scopes]) for term in terms]


def _key(row: Row) -> int:
    return cast("int", row[0])


class _Weighed(NamedTuple):
    """A term as a query of words, how many messages hold it, and how much finding it counts."""

    term: str
    entries_count: int
    weight: float


def _write_weights(terms: Sequence[_Weighed]) -> str:
    return "\n".join(repr(each.weight) for each in terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A query, and how often what it asks for is in the index."""

    query: SearchQuery
    entry_counts: Mapping[SearchTerm, int]
    whole: Corpus

    @property
    def terms(self) -> list[_Weighed]:
        """Its terms, the rarest first."""
        counts = sorted(self.entry_counts.items(), key=lambda item: item[1])
        return [
            _Weighed(_write_term(term), count, math.log(1 + self.whole.documents_count / max(count, 1)))
            for term, count in counts
        ]

    def part(self) -> tuple[list[_Weighed], list[_Weighed]]:
        """The terms that find messages, and the others."""
        terms = self.terms
        if sum(each.entries_count for each in terms) < ALL_FIND_ENTRIES:
            return terms, []
        found_before = accumulate((each.entries_count for each in terms), initial=0)
        finding_count = sum(count < FINDING_ENTRIES for count, _ in zip(found_before, terms, strict=False))
        return terms[:finding_count], terms[finding_count:]

    def rank(self, documents: Sequence[SearchText]) -> list[tuple[int, float]]:
        """Position and score of each document, best first, as among all that the user has."""
        return rank_documents(self.query, documents, whole=self.whole, entry_counts=self.entry_counts)


def _any_of(parts: Iterable[str]) -> str:
    return f"({' | '.join(parts)})"


def _write_pattern(term: SearchTerm) -> str:
    """What a message's own words are like that hold a term, with a blank before and after them."""
    words = " ".join(term.words).replace("_", "\\_")
    return f"% {words}%" if term.is_prefix else f"% {words} %"


def _write_term(term: SearchTerm) -> str:
    """A term as a query of words: a phrase is looked for by its words here, and in their order by the core."""
    words = [f"'{word}'" for word in term.words]
    return f"{words[0]}:*" if term.is_prefix else f"({' & '.join(words)})"
