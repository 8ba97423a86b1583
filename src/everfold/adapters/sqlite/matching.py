"""Questions in the form that SQLite's FTS5 takes; see `everfold.adapters.sql.matching` for the words."""

from collections.abc import Iterable, Sequence

from everfold.adapters.sql.matching import key_words, write_item_scope
from everfold.core.text.searching import SearchQuery, SearchTerm


def write_item_match(query: SearchQuery, user_key: int, *, place: int | None = None) -> str:
    """The MATCH expression of a query within one user's items; empty when nothing is asked for.

    Args:
        query: What to look for.
        user_key: The user's integer key.
        place: Only what is given to this agent: items of the user tier and those of its own.
    """
    matter = write_match(query, user_key)
    if not matter or place is None:
        return matter
    shown = [f'scope : "{write_item_scope(user_key, place=one)}"' for one in dict.fromkeys((0, place))]
    return f"{matter} AND {_any_of(shown)}"


def write_match(
    query: SearchQuery, user_key: int, *, agent_key: int | None = None, session_keys: Sequence[int] = ()
) -> str:
    """The MATCH expression of a query within one user's messages; empty when nothing is asked for.

    Args:
        query: What to look for.
        user_key: The user's integer key.
        agent_key: Only messages of this agent, when given.
        session_keys: Only messages that were appended to one of these sessions, when given.
    """
    if not query.terms:
        return ""
    matter = _any_of(_write_term(term, user_key) for term in query.terms)
    agents = [] if agent_key is None else [f'scope : "{user_key}__a{agent_key}"']
    sessions = [f'scope : "{user_key}__s{session_key}"' for session_key in session_keys]
    return " AND ".join([matter, *agents, *([_any_of(sessions)] if sessions else [])])


def write_holding_match(query: SearchQuery, user_keys: Sequence[int], *, agent_key: int | None = None) -> str:
    """The MATCH expression of messages of any of these users that hold every term of a query themselves."""
    return _any_of(_write_holding(query, user_key, agent_key) for user_key in user_keys)


def _write_holding(query: SearchQuery, user_key: int, agent_key: int | None) -> str:
    own = f"own : ({' AND '.join(_write_term(term, user_key) for term in query.terms)})"
    return own if agent_key is None else f'({own} AND scope : "{user_key}__a{agent_key}")'


def _any_of(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"


def _write_term(term: SearchTerm, user_key: int) -> str:
    quoted = f'"{key_words(user_key, " ".join(term.words))}"'
    return f"{quoted} *" if term.is_prefix else quoted
