"""Search rows and questions in the form that SQLite's FTS5 takes.

Every word stands with its user's key in front. A word of the core holds letters and digits only, and so does no key
end inside a word: the joint `_` between the two cannot occur in either.
"""

from collections.abc import Iterable, Sequence

from everfold.core.text.searching import SearchQuery, SearchTerm


def key_words(user_key: int, words: str) -> str:
    """Space-separated words, each with the user's key in front; empty for none."""
    return f"{user_key}_" + words.replace(" ", f" {user_key}_") if words else ""


def write_scope(user_key: int, *, agent_key: int, session_key: int) -> str:
    """The scope words of a message: its agent's and its session's; the second joint is in no other word."""
    return f"{user_key}__a{agent_key} {user_key}__s{session_key}"


def write_item_scope(user_key: int, *, place: int) -> str:
    """The scope word of an item: 0 is the place of the user tier, any other that of an agent."""
    return f"{user_key}__a{place}" if place else f"{user_key}__u"


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


def _any_of(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"


def _write_term(term: SearchTerm, user_key: int) -> str:
    quoted = f'"{key_words(user_key, " ".join(term.words))}"'
    return f"{quoted} *" if term.is_prefix else quoted
