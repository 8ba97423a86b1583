"""Search rows in the form that an index of words takes.

Every word stands with its user's key in front. A word of the core holds letters and digits only, and so does no key
end inside a word: the joint `_` between the two cannot occur in either.
"""


def key_words(user_key: int, words: str) -> str:
    """Space-separated words, each with the user's key in front; empty for none."""
    return f"{user_key}_" + words.replace(" ", f" {user_key}_") if words else ""


def write_scope(user_key: int, *, agent_key: int, session_key: int) -> str:
    """The scope words of a message: its agent's and its session's; the second joint is in no other word."""
    return f"{user_key}__a{agent_key} {user_key}__s{session_key}"


def write_item_scope(user_key: int, *, place: int) -> str:
    """The scope word of an item: 0 is the place of the user tier, any other that of an agent."""
    return f"{user_key}__a{place}" if place else f"{user_key}__u"
