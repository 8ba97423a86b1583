"""The classes of threats, and what the wordings of all languages are built of.

`W` is what stands between two words of a sentence, `OW` the same or nothing, `gap(n)` up to n words. Sentences end at
`.!?;`, over which no gap reaches. Each repetition has an upper bound, so the time is linear.

Source: DESIGN section 4, "Threats".
"""

from typing import Final, Literal, TypeAlias

from everfold.core.text.wordings import Scope, Wording, WordingRule

ThreatKind = Literal[
    "instruction_override",
    "identity_change",
    "concealment",
    "exfiltration",
    "secret",
    "persistence",
    "remote_control",
    "hidden_markup",
    "forged_mark",
    "lifted_check",
    "invisible",
    "bidirectional",
    "oversized",
]
"""What a text would do to a model that reads it.

- instruction_override: sets aside what the model was told, or gives it orders as a reader.
- identity_change: makes it another person, or a model without limits.
- concealment: makes it hide from its user what it does or was told.
- exfiltration: makes it send out or show what is private: conversation, keys, system prompt.
- secret: holds a secret, written out.
- persistence: plants access or orders that outlive the session: keys of login, start files, the agent's own settings.
- remote_control: makes it fetch orders or programs from elsewhere and carry them out.
- hidden_markup: markup or terminal codes that a person does not see.
- forged_mark: pretends to be a turn, a system message, a fence or a tool call.
- lifted_check: has something done without the approval, confirmation, review or test that it needs. Only told of what a
  machine wrote: a user may do without such a check, a note that was not asked for may not.
- invisible: characters that show nothing and have no use where they stand.
- bidirectional: marks that show Latin text in another order than it is read in.
- oversized: too long to be scanned.
"""

ThreatRule: TypeAlias = WordingRule[ThreatKind]
"""Wordings of an attack."""


def write_rule(kind: ThreatKind, name: str, cues: str, *wordings: Wording, scope: Scope = "all") -> ThreatRule:
    """A rule from its rows; cues are parted by `|`."""
    return ThreatRule(name, kind, wordings, cues=tuple(filter(None, cues.split("|"))), scope=scope)


W: Final = r"[^\w.!?;]{1,4}"
OW: Final = r"[^\w.!?;]{0,4}"


def gap(words_count: int) -> str:
    """Up to so many words of one sentence, each with what stands before it."""
    return rf"(?:{W}\w{{1,16}}){{0,{words_count}}}"


LW: Final = r"[^\w.!?;\n]{1,4}"
"""What stands between two words of a sentence on one line."""


def line_gap(words_count: int) -> str:
    """Up to so many words of one sentence on one line, each with what stands before it."""
    return rf"(?:{LW}\w{{1,16}}){{0,{words_count}}}"


AWAY: Final = r"(?:https?://|ftp://|\S{1,40}@[\w-]{1,40}\.|webhook|endpoint|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})"
"""An address to which something is sent."""
