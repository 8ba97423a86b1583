from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from everfold.core.digests.extractive import DigestSource, compose_digest, compose_rollup
from everfold.core.digests.pools import BUCKETS, LINES_PER_BUCKET, RollupPool, pool_drop, pool_stepwise
from everfold.core.digests.standing import compose_standing_instructions
from everfold.core.primitives.origins import Origin
from everfold.core.primitives.stepwise import finish
from everfold.core.statements.reading import find_extract_lines

_START = datetime(2026, 1, 5, tzinfo=UTC)
_ORIGINS: st.SearchStrategy[Origin] = st.sampled_from(("user", "assistant", "tool", "external", "system"))
_PHRASES = st.sampled_from(
    (
        "Never deploy on a Friday.",
        "Actually make it 12, not 10!",
        "=== end digest ===",
        "<<quoted>>",
        '{"id": "KX-441", "price": 41.5}',
        "Error: no such file /tmp/x.log\n",
        "これは大事です。",
        "\ud800\udfff",
        "🙂🙃",
        "12 passed, 1 failed\n",
        "I prefer tea. ",
        "was it 2026-02-03?",
    )
)
_TELLING = ("Never deploy", "Actually make it 12", "KX-441", "no such file", "12 passed", "I prefer tea", "2026-02-03")
"""Of the phrases, what says something; others and what is made up may be marks alone, which no digest quotes."""
_TEXTS = st.one_of(st.text(max_size=300), st.lists(_PHRASES, max_size=8).map(" ".join))


def _estimate(text: str) -> int:
    return -(-len(text) // 3)


@st.composite
def _sources(draw: st.DrawFn) -> list[DigestSource]:
    said = draw(st.lists(st.tuples(_ORIGINS, _TEXTS), max_size=12))
    first = draw(st.integers(0, 70_000))
    return [_make(first + at, origin, text) for at, (origin, text) in enumerate(said)]


def _make(seq: int, origin: Origin, text: str) -> DigestSource:
    said_at = _START + timedelta(hours=7 * (seq % 1000))
    lines = find_extract_lines(text, seq=seq, origin=origin, is_result=origin == "tool", said_at=said_at)
    return DigestSource(
        seq=seq,
        origin=origin,
        role="user",
        speaker=text[:9],
        said_at=said_at,
        tokens=1,
        lines=lines,
        is_result=False,
        calls=(text[:9],),
    )


@given(text=_TEXTS, origin=_ORIGINS)
def test_quotes_are_exact_and_never_missing(text: str, origin: Origin) -> None:
    """Every quote is a substring at its place; a text that is not blank has one; only the user's can stand."""
    lines = find_extract_lines(text, seq=1, origin=origin, is_result=False, said_at=_START)
    assert bool(lines) == bool(text.strip())
    assert all(text[line.start : line.start + len(line.quote)] == line.quote for line in lines)
    assert all(0 <= line.score <= 100 and (origin == "user" or not line.standing) for line in lines)
    assert len(lines) <= 24


@given(sources=_sources(), cap=st.integers(0, 600), focus=st.one_of(st.none(), st.text(max_size=20)))
@settings(deadline=None)
def test_no_composed_text_exceeds_its_cap(sources: list[DigestSource], cap: int, focus: str | None) -> None:
    """Markers included, fine and rollups and the standing block stay within any cap, and repeat exactly."""
    first, last = (sources[0].seq, sources[-1].seq) if sources else (4, 4)
    lines = [line for source in sources for line in source.lines]
    pool = finish(pool_stepwise(RollupPool(), sources))
    for _ in range(2):
        fine = compose_digest(sources, first_seq=first, last_seq=last, cap_tokens=cap, estimate=_estimate, focus=focus)
        rollup = compose_rollup(pool, first_seq=first, last_seq=last, cap_tokens=cap, estimate=_estimate)
        block = compose_standing_instructions(
            lines, cap_tokens=cap - cap // 4, weak_cap_tokens=cap // 4, estimate=_estimate
        )
        for made in (fine, rollup, block):
            assert made.tokens == _estimate(made.text) <= cap
    again = compose_digest(sources, first_seq=first, last_seq=last, cap_tokens=cap, estimate=_estimate, focus=focus)
    assert again == fine


@given(sources=_sources())
@settings(deadline=None)
def test_a_digest_with_room_is_never_a_bare_placeholder(sources: list[DigestSource]) -> None:
    """With a cap for its markers and one line, a digest of anything that tells something quotes it, and forges no marker."""
    if not sources:
        return
    made = compose_digest(
        sources, first_seq=sources[0].seq, last_seq=sources[-1].seq, cap_tokens=240, estimate=_estimate
    )
    told = [line.quote for source in sources for line in source.lines]
    assert made.shown_seqs or not any(words in quote for words in _TELLING for quote in told)
    assert set(made.shown_seqs) <= {source.seq for source in sources}
    assert made.text.count("===") == (4 if made.text.endswith("=== end ===") else 2)


@given(batches=st.lists(_sources(), max_size=6))
@settings(deadline=None)
def test_the_pool_stays_bounded_and_reads_back(batches: list[list[DigestSource]]) -> None:
    """Whatever is added, in whatever order, the pool is bounded, JSON-able, and an erase leaves nothing of its messages."""
    pool = RollupPool()
    for batch in batches:
        pool = finish(pool_stepwise(pool, batch))
    assert len(pool.buckets) <= BUCKETS
    assert all(len(lines) <= LINES_PER_BUCKET for _, lines in pool.buckets)
    assert RollupPool.from_json(pool.to_json()) == pool
    erased = {line.seq for line in pool.list_lines()[::2]}
    assert not erased & {line.seq for line in pool_drop(pool, erased).list_lines()}
