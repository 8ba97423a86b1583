"""The reader of BEAM's chats, over a made-up chat of its form."""

import json
from datetime import UTC, datetime
from pathlib import Path

from bench.beam import read_beam

TURNS = [
    [
        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I row on Mondays. ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Good."},
    ],
    [{"role": "user", "id": 2, "content": "And a -> b?"}],
]
QUESTIONS = {
    "abstention": [{"question": "Who?"}],
    "knowledge_update": [{"question": "When?", "source_chat_ids": {"original_info": [0], "updated_info": [2, [1]]}}],
}


def write_chat(folder: Path, name: str) -> None:
    """A chat of three messages and two questions."""
    (folder / "probing_questions").mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps([{"batch_number": 1, "turns": TURNS}]), "utf-8")
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(QUESTIONS), "utf-8")


def test_a_chat_is_read_with_its_times_and_evidence(tmp_path: Path) -> None:
    """Messages have the last time that was told and no mark of the generator; a question has all ids of its evidence."""
    write_chat(tmp_path / "7", "chat.json")
    [(name, turns, [question])] = read_beam(tmp_path, [7])
    assert name == "beam-7"
    assert [(turn.name, turn.role, turn.text) for turn in turns] == [
        ("0", "user", "I row on Mondays."),
        ("1", "assistant", "Good."),
        ("2", "user", "And a -> b?"),
    ]
    assert {turn.said_at for turn in turns} == {datetime(2024, 3, 15, tzinfo=UTC)}
    assert (question.text, question.group, question.evidence) == ("When?", "knowledge_update", {"0", "1", "2"})


def test_a_chat_that_was_cut_is_read_as_it_was_cut(tmp_path: Path) -> None:
    """Where a chat was cut to its length, that is what its questions are about."""
    write_chat(tmp_path / "1", "chat.json")
    (tmp_path / "1" / "chat_trunecated.json").write_text(json.dumps([{"batch_number": 1, "turns": TURNS[:1]}]), "utf-8")
    [(_, turns, _)] = read_beam(tmp_path, [1])
    assert len(turns) == 2
