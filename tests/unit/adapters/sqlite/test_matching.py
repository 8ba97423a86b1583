from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import everfold.core.text.searching
from everfold.adapters.sql.matching import key_words, write_item_scope, write_scope
from everfold.adapters.sql.queries import load_queries
from everfold.adapters.sqlite.matching import write_item_match, write_match
from everfold.core.text.searching import BEFORE_WEIGHT, plan_query
from everfold.core.text.words import read_matter

ADAPTER = Path(everfold.core.text.searching.__file__).parents[2] / "adapters" / "sqlite"


QUERIES = load_queries("sqlite")


class _Index:
    """The search tables over the least table of messages that the queries need."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(
            "CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT, user_key INTEGER, agent_key INTEGER, branch_seq INTEGER)"
        )
        self.connection.execute(
            "INSERT INTO sessions VALUES (1, 's', 1, 1, 0), (2, 'branch', 1, 1, 2), (3, 'empty', 1, 2, 0)"
        )
        self.connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, user_key INTEGER, session_key INTEGER, seq INTEGER, role TEXT, "
            "speaker TEXT, raw_tokens INTEGER)"
        )
        self.connection.execute((ADAPTER / "migrations" / "0002_search.sql").read_text())

    def add(self, message_id: int, text: str, *, user: int = 1, agent: int = 1, session: int = 1) -> None:
        scope = write_scope(user, agent_key=agent, session_key=session)
        self.connection.execute(
            "INSERT INTO messages VALUES (?, ?, 1, ?, 'user', 'Ann', 9)", (message_id, user, message_id)
        )
        self.connection.execute(
            QUERIES["insert_search_row"], (message_id, key_words(user, read_matter(text)), "", scope)
        )

    def replace(self, message_id: int, text: str) -> None:
        row = {
            "message_id": message_id,
            "own": key_words(1, read_matter(text)),
            "before": "",
            "scope": write_scope(1, agent_key=1, session_key=1),
        }
        self.connection.execute(QUERIES["replace_search_row"], row)

    def find(self, match: str) -> list[int]:
        bound = {"match": match, "before_weight": BEFORE_WEIGHT, "candidate_count": 50}
        return [row[0] for row in self.connection.execute(QUERIES["search_messages"], bound)]

    def count(self, word: str, *, user: int) -> list[tuple[int]]:
        found = self.connection.execute(QUERIES["count_search_word"], {"word": key_words(user, word)})
        return [(int(row[0]),) for row in found]

    def ask(self, question: str, *, user: int = 1) -> list[int]:
        return self.find(write_match(plan_query(question), user))


@pytest.fixture
def index() -> Iterator[_Index]:
    """An empty index."""
    opened = _Index()
    yield opened
    opened.connection.close()


def test_users_find_their_own_rows_only(index: _Index) -> None:
    """Equal words of two users never meet, also when one key begins with the other or a word looks like a key."""
    index.add(1, "harbour", user=1)
    index.add(2, "harbour", user=17)
    index.add(3, "7_harbour 17_harbour 1_1_harbour", user=1)
    index.add(4, "harbour", user=7)
    assert index.ask("harbour", user=17) == [2]
    assert index.ask("17_harbour", user=17) == [2]
    assert set(index.ask("harbour", user=1)) == {1, 3}


def test_agent_and_sessions_restrict(index: _Index) -> None:
    """A scope of one agent or of some sessions leaves the others' rows out, and text cannot name a scope."""
    index.add(1, "harbour", agent=1, session=1)
    index.add(2, "harbour a1 _a1 1__a1", agent=2, session=2)
    index.add(3, "harbour", agent=2, session=3)
    query = plan_query("harbour")
    assert index.find(write_match(query, 1, agent_key=1)) == [1]
    assert set(index.find(write_match(query, 1, session_keys=[2, 3]))) == {2, 3}
    assert index.find(write_match(query, 1, agent_key=2, session_keys=[3])) == [3]


def test_a_replaced_row_is_found_by_its_new_words_only(index: _Index) -> None:
    """Replacing a row leaves nothing of its old words to find."""
    index.add(1, "harbour")
    index.replace(1, "lighthouse")
    assert (index.ask("harbour"), index.ask("lighthouse")) == ([], [1])


def test_a_deleted_row_is_found_by_nothing(index: _Index) -> None:
    """After a delete no question reaches the row, before and after the index is merged."""
    index.add(1, "harbour")
    index.add(2, "harbour")
    index.connection.execute(QUERIES["delete_search_row"], {"message_id": 1})
    assert index.ask("harbour") == [2]
    index.connection.execute(QUERIES["optimize_search"])
    assert index.ask("harbour") == [2]


def test_words_are_counted_for_one_user(index: _Index) -> None:
    """The count of a word is that of the user's rows."""
    index.add(1, "harbour harbour")
    index.add(2, "harbour", user=2)
    counts = [index.count("harbour", user=user) for user in (1, 2, 3)]
    assert counts == [[(1,)], [(1,)], []]


def test_rows_are_counted_over_sessions_and_branches(index: _Index) -> None:
    """A branch counts from its branch point, an empty session nothing, an unknown user nothing; then the sessions."""
    rows = [(11, 1, 1), (12, 1, 2), (13, 1, 3), (14, 2, 3), (15, 2, 4)]
    index.connection.executemany("INSERT INTO messages VALUES (?, 1, ?, ?, 'user', 'Ann', 9)", rows)
    asked = ({"user_key": 1, "agent_key": None}, {"user_key": 1, "agent_key": 1}, {"user_key": 2, "agent_key": 1})
    counted = [index.connection.execute(QUERIES["count_user_rows"], each).fetchone() for each in asked]
    assert counted == [(5, 3, 0), (5, 3, 1), (0, 0, 0)]


def test_phrases_beginnings_and_operators_are_taken_as_they_are(index: _Index) -> None:
    """No question is a syntax error, and a phrase ranks the row that has it first."""
    index.add(1, "heron blue and so on 東京")
    index.add(2, "blue heron")
    index.add(3, "nothing")
    assert index.ask('"blue heron"')[0] == 2
    assert index.ask("東") == [1]
    for question in ("heron OR", "heron*", 'own : "heron', "NEAR(heron blue)", "heron -blue ^ ( {", "heron\x00'"):
        assert 1 in index.ask(question), question


def test_nothing_asked_is_an_empty_expression() -> None:
    """A query without terms gives no expression, for the caller to answer without a search."""
    assert write_match(plan_query(""), 1) == ""


def test_items_of_other_agents_cannot_match() -> None:
    """For an agent an expression asks for the user tier and that agent alone; for the owner it asks for no scope."""
    query = plan_query("harbour")
    assert write_item_match(query, 17) == write_match(query, 17)
    assert write_item_match(query, 17, place=5).endswith(' AND (scope : "17__u" OR scope : "17__a5")')
    assert write_item_match(query, 17, place=0).endswith(' AND (scope : "17__u")')
    assert write_item_match(plan_query(""), 17, place=5) == ""


def test_no_word_is_a_scope_of_items() -> None:
    """The scope words of items are in no text that is indexed, whatever it says."""
    words = set(key_words(17, read_matter("17__u u a5 _u __a5 17__a5")).split())
    assert not words & {write_item_scope(17, place=0), write_item_scope(17, place=5)}
