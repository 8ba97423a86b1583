from datetime import UTC, datetime, timedelta

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.adapters.sql.matching import key_words
from everfold.adapters.sqlite.matching import write_match
from everfold.core.text.excerpts import make_excerpt
from everfold.core.text.searching import BEFORE_WEIGHT, MAX_TERMS, index_text, plan_query, rank_documents
from everfold.core.text.words import MAX_WORD_CHARS, read_words

SAID_AT = datetime(2024, 2, 29, 12, tzinfo=UTC)
SPEECH = st.sampled_from(
    ["harbour", "getUserById", "東京タワー", "didn't", '"blue', 'heron"', "May 8, 2023", "\ud83d", "\x00"]
)
TEXTS = st.one_of(
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs", "Lo", "Mn", "Po", "Zs"])),
    st.lists(SPEECH, max_size=12).map(" ".join),
)


@given(TEXTS)
def test_words_are_plain(text: str) -> None:
    """Every index word is bounded, holds letters and digits only, is in lower case, and can be written as UTF-8."""
    for word in read_words(text):
        assert word
        assert len(word) <= MAX_WORD_CHARS
        assert "_" not in word
        assert not any(character.isspace() for character in word)
        assert word.encode()


@given(TEXTS)
def test_questions_are_always_planned(question: str) -> None:
    """Any text is a question: bounded, without repeats, and the same each time."""
    query = plan_query(question)
    assert query == plan_query(question)
    assert len(query.terms) == len(set(query.terms)) <= MAX_TERMS


@given(TEXTS, TEXTS, st.integers(1, 300))
def test_excerpts_are_exact_slices(text: str, question: str, max_chars: int) -> None:
    """An excerpt is the message's own text between its bounds, no longer than asked, with its marks inside."""
    excerpt = make_excerpt(text, plan_query(question), max_chars=max_chars)
    assert excerpt.text == text[excerpt.start : excerpt.end]
    assert len(excerpt.text) <= max_chars
    assert all(excerpt.start <= start < end <= excerpt.end for start, end in excerpt.matches)


@given(TEXTS)
def test_a_text_is_found_by_itself(text: str) -> None:
    """A message ranks for a question of its own words, unless it has none."""
    document = index_text(text, speaker="Ann", said_at=SAID_AT)
    found = rank_documents(plan_query(text), [document])
    assert bool(found) == bool(plan_query(text).terms)


@given(st.lists(TEXTS, max_size=6), TEXTS)
def test_ranking_is_deterministic_and_within_the_log(texts: list[str], question: str) -> None:
    """Ranking gives positions of the log, each once, best first, the same each time."""
    documents = [
        index_text(text, speaker="Ann", said_at=SAID_AT + timedelta(days=at), before=texts[:at][::-1])
        for at, text in enumerate(texts)
    ]
    ranked = rank_documents(plan_query(question), documents)
    assert ranked == rank_documents(plan_query(question), documents)
    assert len({at for at, _ in ranked}) == len(ranked)
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)


@pytest.fixture(scope="module")
def connection() -> apsw.Connection:
    """An index table of one row at a time."""
    opened = apsw.Connection(":memory:")
    opened.execute(
        "CREATE VIRTUAL TABLE message_index USING fts5 (own, before, scope, tokenize = \"ascii tokenchars '_'\")"
    )
    return opened


@given(texts=st.lists(TEXTS, min_size=1, max_size=6), question=TEXTS)
def test_the_index_and_the_plain_ranking_agree(connection: apsw.Connection, texts: list[str], question: str) -> None:
    """FTS5 takes every expression, matches the messages that the ranking of the core matches, and scores them alike."""
    query = plan_query(question)
    documents = [
        index_text(text, speaker="Ann", said_at=SAID_AT, before=texts[:at][::-1]) for at, text in enumerate(texts)
    ]
    connection.execute("DELETE FROM message_index")
    connection.executemany(
        "INSERT INTO message_index (rowid, own, before) VALUES (?, ?, ?)",
        [(at, key_words(5, document.own), key_words(5, document.before)) for at, document in enumerate(documents)],
    )
    sql = "SELECT rowid, -bm25(message_index, 1.0, ?, 0.0) FROM message_index WHERE message_index MATCH ?"
    match = write_match(query, 5)
    rows = connection.execute(sql, (BEFORE_WEIGHT, match)).fetchall() if match else []
    assert {row[0]: row[1] for row in rows} == pytest.approx(dict(rank_documents(query, documents)))
