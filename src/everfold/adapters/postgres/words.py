"""The index of words in PostgreSQL: GIN finds the candidates, the core ranks them.

Source: Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009, by
`everfold.core.text.searching.rank_documents`; PostgreSQL's documentation of text search types.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from everfold.adapters.sql.database import Bound, Database, Indexed, Row, TermCounts
from everfold.adapters.sql.matching import key_words, write_filter, write_item_scope
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.log.sessions import NO_END
from everfold.core.text.searching import Corpus, SearchQuery, SearchTerm, SearchText, rank_documents

LEAST_CANDIDATES = 400
"""How many rows that match are ranked at least. Source: DESIGN.md, a prototype's recall over 400 candidates."""

COUNTED_ENTRIES = 1_000
"""How many messages that hold a word are counted; beyond, the number is estimated from a sample of 300. Source: own measurement
in 100,000 messages of one user, 25 questions: .98 of the first ten, and every first hit, are those of exact counts, as with 2,000
and 500; the median of a search is 45 ms, 50 with those, 70 with exact counts."""


class PostgresWords:
    """The tables of words, by one connection; see `everfold.adapters.sql.database.WordIndex`."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
        """See the protocol."""
        agents = [] if agent_key is None else [f"'{user_key}__a{agent_key}'"]
        sessions = [_any_of(f"'{user_key}__s{session_key}'" for session_key in session_keys)] if session_keys else []
        asked = _count(query, user_key, counts)
        rows = self._database.rows(
            "search_messages" if only == ANY_MESSAGE else "search_some_messages",
            user_key=user_key,
            terms="\n".join(_within(asked.terms, [*agents, *sessions])),
            weights="\n".join(asked.weights),
            candidate_count=max(LEAST_CANDIDATES, limit_count),
            **write_filter(only),
        )
        rows.sort(key=_key)
        documents = [SearchText(own=cast("str", row[1]), before=cast("str", row[2])) for row in rows]
        ranked: list[Row] = [(rows[at][0], score, *rows[at][3:]) for at, score in asked.rank(documents)]
        return ranked[:limit_count]

    def find_items(
        self, query: SearchQuery, user_key: int, *, place: int | None, counts: TermCounts, limit_count: int
    ) -> list[Row]:
        """See the protocol."""
        asked = _count(query, user_key, counts)
        rows = self._database.rows(
            "search_items",
            user_key=user_key,
            terms="\n".join(_within(asked.terms, _write_scopes(user_key, place))),
            weights="\n".join(asked.weights),
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
    most_count = max(counts.whole.documents_count, *entry_counts.values())  # one of the two may be an estimate
    return _Asked(
        query=SearchQuery(terms=tuple(entry_counts)),
        terms=list(map(_write_term, entry_counts)),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A query, and how often what it asks for is in the index."""

    query: SearchQuery
    terms: Sequence[str]
    entry_counts: Mapping[SearchTerm, int]
    whole: Corpus

    @property
    def weights(self) -> list[str]:
        """How rare each term is."""
        return [repr(math.log(1 + self.whole.documents_count / max(count, 1))) for count in self.entry_counts.values()]

    def rank(self, documents: Sequence[SearchText]) -> list[tuple[int, float]]:
        """Position and score of each document, best first, as among all that the user has."""
        return rank_documents(self.query, documents, whole=self.whole, entry_counts=self.entry_counts)


def _any_of(parts: Iterable[str]) -> str:
    return f"({' | '.join(parts)})"


def _write_term(term: SearchTerm) -> str:
    """A term as a query of words: a phrase is looked for by its words here, and in their order by the core."""
    words = [f"'{word}'" for word in term.words]
    return f"{words[0]}:*" if term.is_prefix else f"({' & '.join(words)})"
