"""The index of words in PostgreSQL: GIN finds the candidates, the core ranks them.

Source: Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009, by
`everfold.core.text.searching.rank_documents`; PostgreSQL's documentation of text search types.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from everfold.adapters.sql.database import Database, Row
from everfold.adapters.sql.matching import key_words, write_filter, write_item_scope
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.text.searching import Corpus, SearchQuery, SearchTerm, SearchText, rank_documents

LEAST_CANDIDATES = 400
"""How many rows that match are ranked at least. Source: DESIGN.md, a prototype's recall over 400 candidates."""


class PostgresWords:
    """The tables of words, by one connection; see `everfold.adapters.sql.database.WordIndex`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_messages(
        self,
        query: SearchQuery,
        user_key: int,
        *,
        agent_key: int | None,
        session_keys: Sequence[int],
        only: SearchFilter,
        entry_counts: Mapping[str, int],
        limit_count: int,
    ) -> list[Row]:
        """See the protocol."""
        agents = [] if agent_key is None else [f"'{user_key}__a{agent_key}'"]
        sessions = [_any_of(f"'{user_key}__s{session_key}'" for session_key in session_keys)] if session_keys else []
        asked = self._ask(query, user_key, "message", entry_counts)
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

    def find_items(self, query: SearchQuery, user_key: int, *, place: int | None, limit_count: int) -> list[Row]:
        """See the protocol."""
        asked = self._ask(query, user_key, "item", {})
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

    def _ask(
        self, query: SearchQuery, user_key: int, kind: Literal["message", "item"], word_counts: Mapping[str, int]
    ) -> "_Asked":
        """A query with what the whole index of a user says of its terms; a term of one word was counted with the words."""
        keyed = SearchQuery(terms=_key_terms(query, user_key))
        known = {
            own: word_counts[term.words[0]]
            for term, own in zip(query.terms, keyed.terms, strict=True)
            if len(term.words) == 1 and not term.is_prefix and term.words[0] in word_counts
        }
        unknown = [term for term in keyed.terms if term not in known]
        text = "\n".join(map(_write_term, unknown))
        rows = self._database.rows(f"count_{kind}_terms", user_key=user_key, terms=text)
        (documents_count, words_count), *counted = cast("list[tuple[int, int]]", rows)
        counts = known | dict(zip(unknown, (count for count, _ in counted), strict=True))
        return _Asked(
            query=keyed,
            terms=[_write_term(term) for term in keyed.terms],
            entry_counts={term: counts[term] for term in keyed.terms},
            whole=Corpus(documents_count, words_count),
        )

    def wipe_items(self, user_key: int) -> None:
        """See the protocol."""
        self._database.run("wipe_item_words", user_key=user_key)

    def merge_messages(self) -> None:
        """Nothing: what is deleted goes when the server next cleans the table."""


def _key_terms(query: SearchQuery, user_key: int) -> tuple[SearchTerm, ...]:
    """The terms of a query with the user's key in front of each word."""
    return tuple(
        SearchTerm(words=tuple(key_words(user_key, word) for word in term.words), is_prefix=term.is_prefix)
        for term in query.terms
    )


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
