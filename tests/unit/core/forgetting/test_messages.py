from dataclasses import replace
from datetime import UTC, datetime, timedelta

from everfold.core.compaction.certificate import (
    Certificate,
    Covered,
    VerificationProblem,
    check_certificate,
    hash_text,
    seal_certificate,
)
from everfold.core.compaction.folding import Digest, to_source
from everfold.core.compaction.layout import EMPTY_LAYOUT
from everfold.core.digests.extractive import compose_digest, compose_rollup
from everfold.core.digests.pools import RollupPool, pool_stepwise
from everfold.core.forgetting.messages import (
    erase_from_certificate,
    erase_from_digest,
    erase_from_state,
    index_neighbours,
)
from everfold.core.log.appending import Incoming, plan_append
from everfold.core.log.messages import Message, Note
from everfold.core.log.state import WHOLE_WINDOW, SessionState
from everfold.core.primitives.stepwise import finish
from everfold.core.statements.reading import find_extract_lines
from everfold.core.text.tokens import estimate_text_tokens
from everfold.testing.kit.builders import assistant, budget_of, calls, incoming, result, session_record, user

_START = datetime(2031, 3, 3, 8, tzinfo=UTC)


def _note(seq: int, text: str) -> Note:
    said_at = _START + timedelta(hours=seq)
    return Note(
        seq=seq,
        kind="user",
        origin="user",
        name=None,
        said_at=said_at,
        tokens=20,
        raw_tokens=20,
        is_boundary=True,
        keep=False,
        content_hash="ab",
        sum_tokens=20 * seq,
        turn_seq=seq,
        turns_count=seq,
        lines=find_extract_lines(text, seq=seq, origin="user", is_result=False, said_at=said_at),
    )


_NOTES = [
    _note(1, "Never sail before noon."),
    _note(2, "Remember: the strongbox code is QX-4411."),
    _note(3, "The ferry costs 17 euros."),
]


def _digest(pool: RollupPool | None = None) -> Digest:
    if pool:
        text = compose_rollup(pool, first_seq=1, last_seq=3, cap_tokens=300, estimate=estimate_text_tokens)
    else:
        sources = [to_source(note) for note in _NOTES]
        text = compose_digest(sources, first_seq=1, last_seq=3, cap_tokens=300, estimate=estimate_text_tokens)
    return Digest(
        id="evt_1.digest",
        compaction_id="evt_1",
        kind="rollup" if pool else "digest",
        generator="abstractive",
        first_seq=1,
        last_seq=3,
        text=text.text,
        tokens=text.tokens,
        content_hash=hash_text(text.text),
        reads=() if pool else (1, 2, 3),
        pool=pool,
    )


def _place(*items: Incoming) -> list[Message]:
    budget = budget_of(session_record().settings, SessionState())
    return [one.message for one in plan_append(SessionState(), items, budget, step={}, session="ses_1").appended]


def test_a_fine_digest_is_made_again_from_what_it_read() -> None:
    """Without the message it says all else that it said, is extractive and not larger, and no longer reads the message."""
    old = _digest()
    new = erase_from_digest(old, 2, _NOTES, EMPTY_LAYOUT, focus=None)
    assert new is not None
    assert "QX-4411" in old.text
    assert "QX-4411" not in new.text
    assert "before noon" in new.text
    assert new.tokens <= old.tokens
    assert new.content_hash == hash_text(new.text)
    assert (new.id, new.generator, new.reads) == (old.id, "extractive", (1, 3))
    assert erase_from_digest(new, 2, _NOTES, EMPTY_LAYOUT, focus=None) is None


def test_a_digest_of_one_message_becomes_an_empty_frame() -> None:
    """When nothing is left to read, the digest still names its range and says nothing."""
    only = replace(_digest(), reads=(2,))
    new = erase_from_digest(only, 2, [_NOTES[1]], EMPTY_LAYOUT, focus=None)
    assert new is not None
    assert "1-3" in new.text
    assert "QX-4411" not in new.text
    assert new.reads == ()


def test_a_coarse_digest_is_made_again_from_its_pool() -> None:
    """The pool loses the message's lines and the text is chosen from the rest; another message changes nothing."""
    old = _digest(finish(pool_stepwise(RollupPool(), _NOTES)))
    new = erase_from_digest(old, 2, [], EMPTY_LAYOUT, focus=None)
    assert new is not None
    assert new.pool is not None
    assert {line.seq for line in new.pool.list_lines()} == {1, 3}
    assert "QX-4411" in old.text
    assert "QX-4411" not in new.text
    assert new.tokens <= old.tokens
    assert erase_from_digest(old, 9, [], EMPTY_LAYOUT, focus=None) is None


def test_a_certificate_is_issued_again() -> None:
    """The message is named as erased, wherever it stands, all else stays, and the new certificate holds."""
    old = seal_certificate(
        Certificate(
            compaction_id="evt_1",
            first_seq=2,
            last_seq=3,
            covered=(
                Covered(seq=2, group="folded", content_hash="aa", digest_id="evt_1.digest"),
                Covered(seq=3, group="kept", content_hash="bb"),
            ),
            folded_later=(Covered(seq=1, group="folded", content_hash="cc", digest_id="evt_1.digest"),),
            digests=(("evt_1.digest", "old"),),
        )
    )
    new = erase_from_certificate(old, 2, {"evt_1.digest": _digest()})
    assert new.covered == (Covered(seq=2, group="erased", content_hash=""), old.covered[1])
    assert new.folded_later == old.folded_later
    digests, left = dict(new.digests), {1: "cc", 3: "bb"}

    def list_problems(certificate: Certificate, messages: dict[int, str]) -> list[VerificationProblem]:
        return check_certificate(certificate, expected_first_seq=2, message_hashes=messages, digest_hashes=digests)

    assert list_problems(new, left) == []
    assert list_problems(old, left) != []
    assert [problem.seq for problem in list_problems(new, {**left, 2: "aa"})] == [2]


def test_neighbours_are_indexed_by_what_was_said_before_them() -> None:
    """Only messages within reach of the erased one are indexed again, each by what is left before it; results are not."""
    messages = _place(
        incoming(user("alpha")),
        incoming(user("bravo")),
        incoming(user("charlie")),
        incoming(calls("c1")),
        incoming(result("c1", "delta")),
        incoming(assistant("echo")),
        incoming(user("foxtrot")),
        incoming(user("golf")),
    )
    rows = dict(index_neighbours(3, [message for message in messages if message.seq != 3]))
    assert sorted(rows) == [4, 6, 7]
    assert rows[4].before.split() == rows[6].before.split() == ["bravo", "alpha"]
    assert rows[7].before.split() == ["echo", "bravo"]


def test_a_state_forgets_what_was_said_and_who_was_running() -> None:
    """What the state remembers comes from the messages that are left; sums stay, revision and epoch rise."""
    messages = _place(incoming(user("alpha")), incoming(user("bravo")), incoming(user("charlie")))
    state = SessionState(
        revision=4, epoch=1, last_seq=3, sum_tokens=30, turn_seq=3, turn_tokens=9, said_before=("charlie", "bravo")
    )
    new = erase_from_state(state, 3, messages)
    left = replace(state, revision=5, epoch=2, turn_tokens=0, said_before=("bravo", "alpha"))
    assert new == left.with_cache_break("erase", WHOLE_WINDOW)
    assert erase_from_state(state, 1, messages).said_before == ("charlie", "bravo")


def test_a_state_counts_an_erased_head_no_longer() -> None:
    """The head's size leaves with its words, and stays where another message is erased."""
    messages = _place(incoming(user("alpha")), incoming(user("bravo")))
    state = SessionState(revision=2, last_seq=2, head_seq=1, head_tokens=9)
    assert [erase_from_state(state, seq, messages).head_tokens for seq in (1, 2)] == [0, 9]
