"""Budgets: whatever the ratios, the limit and the calibration, what fits is shown and what does not is refused."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.sizes import examples

import everfold
from everfold import Session
from everfold.core.log.budget import Policy, find_smallest_limit, least_digest_ratio, require_budget, share_budget
from everfold.core.log.calibration import LEAST_FACTOR, MOST_FACTOR, Calibration, count_parts, count_tokens
from everfold.core.windows.parts import list_parts
from everfold.errors import BudgetUnsatisfiableError
from everfold.testing.kit.builders import assistant, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

MOST_COMPACTIONS = 100
"""More compactions for one window of these short logs would never end."""

SLICES = ("message_cap_ratio", "digest_ratio", "visible_ratio", "step_visible_ratio")
SHARES = ("tail_ratio", "kept_ratio", "standing_ratio", "weak_standing_ratio")


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies with every order of ratios that is allowed, down to a hard limit of a hundredth."""
    target = draw(st.floats(0.005, 0.9))
    trigger = draw(st.floats(target * 1.01, min(target * 1.5, 0.95)))
    hard = draw(st.floats(trigger * 1.01, min(trigger * 1.5, 1.0)))
    weights = [draw(st.floats(0.01, 1.0)) for _ in SLICES]
    share = draw(st.floats(0.1, 0.99)) * trigger / sum(weights)
    ratios = {name: weight * share for name, weight in zip(SLICES, weights, strict=True)}
    least = least_digest_ratio(Policy(digest_ratio=ratios["digest_ratio"])) / target
    tail = draw(st.floats(0, 1)) * max(0.9 - least, 0)
    ratios["digest_ratio"] = min(ratios["digest_ratio"], 0.9 * target)
    ratios["tail_ratio"] = tail * target
    for name in SHARES[1:]:
        ratios[name] = draw(st.floats(0, 1)) * (0.95 - tail) * target
    return Policy(
        target_ratio=target,
        trigger_ratio=trigger,
        hard_limit_ratio=hard,
        suffix_ratio=draw(st.sampled_from([0.0, 0.04, 0.3])),
        snapshot_tokens=draw(st.sampled_from([0, 600])),
        **ratios,
    )


calibrations = st.builds(Calibration, factor=st.floats(LEAST_FACTOR, MOST_FACTOR))


@given(policies(), calibrations, st.integers(0, 5_000), st.integers(0, 20_000))
@settings(max_examples=examples(400), deadline=None)
def test_the_smallest_limit_works_and_no_smaller_one(
    policy: Policy, calibration: Calibration, prompt_tokens: int, floor_tokens: int
) -> None:
    """For every policy there is a limit that holds a fixed part and a floor; one token less is refused and names it."""
    smallest = find_smallest_limit(
        policy, prompt_tokens=prompt_tokens, calibration=calibration, floor_tokens=floor_tokens
    )

    def require(limit_tokens: int) -> None:
        budget = share_budget(limit_tokens, policy, prompt_tokens=prompt_tokens, calibration=calibration)
        require_budget(budget, policy, calibration=calibration, floor_tokens=floor_tokens, whose="session s")

    require(smallest)
    with pytest.raises(BudgetUnsatisfiableError) as caught:
        require(smallest - 1)
    assert caught.value.smallest_limit_tokens == smallest


@given(policies(), calibrations, st.integers(1, 200_000), st.integers(0, 5_000))
@settings(max_examples=examples(400), deadline=None)
def test_a_budget_never_passes_the_limit_less_the_answer(
    policy: Policy, calibration: Calibration, limit_tokens: int, prompt_tokens: int
) -> None:
    """However few tokens a provider reports: not in our estimate, and not in what a full budget counts there."""
    budget = share_budget(limit_tokens, policy, prompt_tokens=prompt_tokens, calibration=calibration)
    room = max(limit_tokens - budget.answer_tokens, 0)
    assert budget.budget_tokens <= room
    assert count_tokens(calibration, budget.budget_tokens) <= room
    counted = budget.count(calibration)
    assert counted.budget_tokens == room
    assert counted.fixed_tokens + counted.usable_tokens == room
    assert counted.fixed_tokens == count_tokens(calibration, budget.fixed_tokens)
    assert counted.hard_limit_tokens <= max(counted.usable_tokens, 0) + 1


@given(calibrations, st.lists(st.integers(0, 10_000), max_size=20))
def test_parts_count_what_their_sum_counts(calibration: Calibration, estimates: list[int]) -> None:
    """What a provider counts of parts sums to what it counts of the whole, and no count is negative."""
    counts = count_parts(calibration, estimates)
    assert sum(counts) == count_tokens(calibration, sum(estimates))
    assert len(counts) == len(estimates)
    assert min(counts, default=0) >= 0


class _BoundedIds(CountingIds):
    """Ids that end: a window that compacts for ever asks for too many."""

    left = MOST_COMPACTIONS

    def new_id(self, prefix: str) -> str:
        """The next id, unless a window has begun too many compactions."""
        if prefix == "evt_":
            self.left -= 1
            assert self.left, "one window began a hundred compactions"
        return super().new_id(prefix)


async def _set_calibration(session: Session, calibration: Calibration) -> Session:
    state = await session.inspect.state()
    changed = replace(state, revision=state.revision + 1, calibration=calibration)
    await session._store.write_state(session.id, changed, expected_revision=state.revision)
    return session


async def _talk(policy: Policy, calibration: Calibration, limit: int, sizes: list[int], share: float) -> None:
    ids = _BoundedIds()
    names = {"message_cap_ratio", "target_ratio", "trigger_ratio", "hard_limit_ratio", "suffix_ratio"}
    ratios = {name: getattr(policy, name) for name in names | set(SLICES) | set(SHARES)}
    given = {"compaction": {**ratios, "synchronous": True}}
    async with everfold.open("memory://", settings=given, clock=FakeClock(), ids=ids) as engine:
        session = await engine.session(limit=limit)
        await session.append(talk(1))
        await _set_calibration(session, calibration)
        for number, size in enumerate(sizes):
            await session.append(
                [user(f"And berth {number}? " * (size % 5)), assistant(f"Berth {number} is free. " * size)]
            )
            ids.left = MOST_COMPACTIONS
            window = await session.window(limit=max(int(limit * share), 1))
            report = window.report
            assert window.estimate.tokens <= window.estimate.budget_tokens
            assert report.tokens <= report.budget_tokens <= int(limit * share)
            assert sum(report.by_slice.values()) == report.tokens
            assert sum(part.tokens for part in list_parts(window)) == report.tokens


@given(
    policies(),
    calibrations,
    st.integers(1_000, 12_000),
    st.lists(st.integers(1, 250), min_size=2, max_size=12),
    st.sampled_from([1.0, 0.9, 0.5]),
)
@settings(max_examples=examples(160), deadline=None)
def test_a_window_fits_or_names_a_limit_that_is_larger(
    policy: Policy, calibration: Calibration, limit: int, sizes: list[int], share: float
) -> None:
    """A window ends: it is within its budget in both kinds of tokens, or an error names a larger limit."""
    smallest_tokens = limit + 1
    try:
        asyncio.run(_talk(policy, calibration, limit, sizes, share))
    except BudgetUnsatisfiableError as error:
        smallest_tokens = error.smallest_limit_tokens
    assert smallest_tokens > int(limit * share)


async def test_people_see_the_providers_tokens() -> None:
    """Once a provider has counted, a window's tokens are what it counts, its budget the limit less the answer."""
    async with everfold.open("memory://", clock=FakeClock(), ids=CountingIds()) as engine:
        session = await engine.session(limit=6_000)
        await session.append(talk(8))
        first = await session.window()
        for ratio in (0.5, 1.5):
            for _ in range(40):
                await session.observe_usage(await session.window(), counted_tokens=int(first.report.tokens * ratio))
            report = (await session.window()).report
            assert report.tokens == pytest.approx(first.report.tokens * ratio, rel=0.02)
            assert report.budget_tokens == 5_280
            budget = session.inspect.budget()
            assert (budget.budget_tokens, budget.fixed_tokens) == (5_280, report.fixed_tokens)
            standing = await session.inspect.standing()
            assert (standing.report.tokens, standing.budget) == (report.tokens, budget)
