"""How strongly turns of users bind: the detector beside two readers, on turns of real talks that it was not written on.

`tests/data/standing/turns.jsonl` names each turn by its file, its talk and its message, with the first digits of the
text's SHA-256, and has the label of each reader; the words themselves are in the data sets. A turn's strength is that of
its strongest statement (3: an explicit rule, 2: an order, limit or deadline, 1: a decision or preference, 0: none). Where
the readers differ the lower label counts. Who the user is ("My user ID is ...") stands too, has no label and is left out.

The readers were two language models that had not seen the code nor each other's labels. A third, by the hash, is held back.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypedDict

from bench.beam import find_beam, read_beam
from bench.recall import DATA
from bench.report import ROOT, Row
from bench.transcripts.reading import read_transcript
from everfold.core.statements.reading import find_extract_lines
from everfold.core.statements.strengths import measure_line
from everfold.services.sessions.import_transcript import read_messages

TITLE = "how strongly turns of users bind, beside two readers"
_LABELS: Final = ROOT / "tests" / "data" / "standing" / "turns.jsonl"
_NOW: Final = datetime(2026, 1, 5, tzinfo=UTC)
_HASH_DIGITS: Final = 12
_NAMES: Final = {3: "explicit rules", 2: "orders and limits, or more", 1: "decisions and preferences, or more"}


class Label(TypedDict):
    """A turn, by `file/talk/message` counted from 0 and 1, with what each reader called it."""

    turn: str
    hash: str
    first: int
    second: int
    split: str


class Read(NamedTuple):
    """A labelled turn: its strength by the readers, and by the detector."""

    label: int
    found: int


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Recall and false alarms for each strength, on the part that is open and on the one held back."""
    labels: list[Label] = [json.loads(row) for row in _LABELS.read_text("utf-8").splitlines()]
    texts = dict(_list_texts({label["turn"].split("/")[0] for label in labels}))
    known = [label for label in labels if label["turn"] in texts]
    for label in known:
        _require_same(label, texts[label["turn"]])
    rows = [
        Row(figure=f"turns that were read, of {len(labels)} that are labelled", value=len(known), digits=0),
        Row(figure="readers that give the same label, share of turns", value=_agree(labels), digits=3),
        Row(figure="the same beyond chance (Cohen's kappa)", value=_measure_kappa(labels), digits=3),
    ]
    for split in ("dev",) if is_quick else ("dev", "held"):
        read = [_read(label, texts[label["turn"]]) for label in known if label["split"] == split]
        rows += [row for strength in _NAMES for row in _list_rows(read, split, strength)]
    return rows, [f"{len(known)} turns of {len({label['turn'].split('/')[0] for label in known})} files."]


def _list_texts(names: set[str]) -> Iterator[tuple[str, str]]:
    """Each message of the files that are there, by the name that labels give it."""
    for path in sorted(path for path in (*DATA.glob("*.json*"), *DATA.glob("agents/*.json")) if path.name in names):
        for talk, conversation in enumerate(read_transcript(path).conversations):
            for place, message in enumerate(read_messages(conversation.messages, now=_NOW), 1):
                yield f"{path.name}/{talk}/{place}", message.view.text
    folder = find_beam()
    numbers = sorted(int(name.removeprefix("beam-")) for name in names if name.startswith("beam-"))
    for name, turns, _ in read_beam(folder, numbers) if folder is not None else ():
        yield from ((f"{name}/0/{place}", turn.text) for place, turn in enumerate(turns, 1))


def _require_same(label: Label, text: str) -> None:
    digits = hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
    if digits != label["hash"]:
        raise ValueError(f"turn {label['turn']} is another one than was labelled: {digits}, not {label['hash']}")


def _read(label: Label, text: str) -> Read:
    lines = find_extract_lines(text, seq=1, origin="user", is_result=False, said_at=_NOW)
    standing = [line for line in lines if line.standing and line.origin == "user" and line.kind != "identity"]
    found = max(map(measure_line, standing), default=0)
    return Read(min(label["first"], label["second"]), found)


def _list_rows(read: Sequence[Read], split: str, strength: int) -> Iterator[Row]:
    """Recall of the turns of at least this strength, and how many others are taken for one, to 1,000 turns."""
    binding = [one for one in read if one.label >= strength]
    found = sum(one.found >= strength for one in binding)
    alarms = sum(one.found >= strength > one.label for one in read)
    name = f"{_NAMES[strength]}, {split}"
    recall: float | str = found / len(binding) if binding else "none"
    yield Row(figure=f"{name}: found, share of {len(binding)} turns", value=recall, digits=2)
    yield Row(figure=f"{name}: false alarms in 1,000 turns", value=1000 * alarms / max(len(read), 1), digits=0)


def _agree(labels: Sequence[Label]) -> float:
    return sum(label["first"] == label["second"] for label in labels) / len(labels)


def _measure_kappa(labels: Sequence[Label]) -> float:
    """Cohen, "A coefficient of agreement for nominal scales" (1960)."""
    first, second = (Counter(label[reader] for label in labels) for reader in ("first", "second"))
    chance = sum(first[strength] * second[strength] for strength in first) / len(labels) ** 2
    return (_agree(labels) - chance) / (1 - chance)
