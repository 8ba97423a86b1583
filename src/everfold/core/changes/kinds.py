"""The kinds of marks by which a statement says itself that it takes the place of an older one."""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

from typing import Final, Literal, NamedTuple

MarkKind = Literal["corrects", "now", "instead", "rejects", "ends", "moves", "shifts", "switches"]
"""What a mark says.

- corrects: what was said before was wrong, without naming it.
- now: it is so from now on; the weakest mark.
- instead: it is so and something else is not, without naming it.
- rejects: the group `old` is not so, or not so any more.
- ends: its whole clause says what is not so any more.
- moves: the group `subject` has another day, place or value from now on, the group `new`.
- shifts: something is another than it was; a clause beside it says what.
- switches: as `rejects`, where `old` was used, worked or lived with.
"""


class ChangeMark(NamedTuple):
    """One row: where the pattern is found in a lower-cased sentence, it has the mark. Contractions are written out."""

    language: str
    kind: MarkKind
    pattern: str
    example: str


VALUE: Final = r"(?P<old>[^,;!?。，]+?)"
END: Final = r"(?= but |[,;!?]|\.(?:\s|$)|$)"
