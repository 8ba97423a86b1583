"""Search rows in the form that an index of words takes.

Every word stands with its user's key in front. A word of the core holds letters and digits only, and so does no key
end inside a word: the joint `_` between the two cannot occur in either.
"""

import json
from datetime import UTC, datetime
from typing import get_args

from everfold.adapters.sql.codec import to_micros
from everfold.adapters.sql.database import SqlValue
from everfold.core.log.messages import Role
from everfold.core.log.search_filters import SearchFilter

_FIRST_MICROS = to_micros(datetime.min.replace(tzinfo=UTC))
_LAST_MICROS = to_micros(datetime.max.replace(tzinfo=UTC)) + 1


def write_filter(only: SearchFilter) -> dict[str, SqlValue]:
    """The values that a query binds for a filter of messages; where it leaves something open, all roles or all times."""
    return {
        "roles": json.dumps(sorted(only.roles or get_args(Role))),
        "since_at": _FIRST_MICROS if only.since is None else to_micros(only.since),
        "until_at": _LAST_MICROS if only.until is None else to_micros(only.until),
    }


def key_words(user_key: int, words: str) -> str:
    """Space-separated words, each with the user's key in front; empty for none."""
    return f"{user_key}_" + words.replace(" ", f" {user_key}_") if words else ""


def write_scope(user_key: int, *, agent_key: int, session_key: int) -> str:
    """The scope words of a message: its agent's and its session's; the second joint is in no other word."""
    return f"{user_key}__a{agent_key} {user_key}__s{session_key}"


def write_item_scope(user_key: int, *, place: int) -> str:
    """The scope word of an item: 0 is the place of the user tier, any other that of an agent."""
    return f"{user_key}__a{place}" if place else f"{user_key}__u"
