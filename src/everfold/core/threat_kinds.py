"""The classes of threats, the form of a rule that finds one, and what every wording is built of.

`W` is what stands between two words of a sentence, `OW` the same or nothing, `gap(n)` up to n words. Sentences end at
`.!?;`, over which no gap reaches. Each repetition has an upper bound, so the time is linear.

Source: DESIGN section 4, "Threats".
"""

from dataclasses import dataclass
from typing import Final, Literal

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
    "invisible",
    "bidirectional",
    "oversized",
]
"""What a text would do to a model that reads it.

- instruction_override: sets aside what the model was told, or gives it orders as a reader.
- identity_change: makes it somebody else, or a model without limits.
- concealment: makes it hide from its user what it does or was told.
- exfiltration: makes it send out or show what is private: conversation, keys, system prompt.
- secret: holds a secret, written out.
- persistence: plants access or orders that outlive the session: keys of login, start files, the agent's own settings.
- remote_control: makes it fetch orders or programs from elsewhere and carry them out.
- hidden_markup: markup or terminal codes that a person does not see.
- forged_mark: pretends to be a turn, a system message, a fence or a tool call.
- invisible: characters that show nothing and have no use where they stand.
- bidirectional: marks that show Latin text in another order than it is read in.
- oversized: too long to be scanned.
"""

Scope = Literal["all", "memory", "digest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreatRule:
    r"""One wording of an attack.

    Attributes:
        name: What the rule finds, unique in the table.
        kind: The class of the attack.
        wordings: Patterns over folded text in small letters. One that begins with `\\b` begins with letters then, in
            each of its branches, and is tried at words that begin so; any other is searched for.
        cues: Of these at least one stands in each text in which a wording that is searched for is found; empty when
            there are none.
        scope: Where the rule holds: in memory, in a line of a digest, or in both.
    """

    name: str
    kind: ThreatKind
    wordings: tuple[str, ...]
    cues: tuple[str, ...] = ()
    scope: Scope = "all"


def write_rule(kind: ThreatKind, name: str, cues: str, *wordings: str, scope: Scope = "all") -> ThreatRule:
    """A rule from its wordings; cues are parted by `|`."""
    return ThreatRule(name=name, kind=kind, wordings=wordings, cues=tuple(filter(None, cues.split("|"))), scope=scope)


W: Final = r"[^\w.!?;]{1,4}"
OW: Final = r"[^\w.!?;]{0,4}"


def gap(words_count: int) -> str:
    """Up to so many words of one sentence, each with what stands before it."""
    return rf"(?:{W}\w{{1,16}}){{0,{words_count}}}"


AWAY: Final = r"(?:https?://|ftp://|\S{1,40}@[\w-]{1,40}\.|webhook|endpoint|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})"
"""An address to which something is sent."""
