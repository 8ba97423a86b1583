"""The report of a replay, for people and for programs."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from everfold.cli.replays.replaying import Replayed
from everfold.cli.tables.output import Cell, make_table, open_console
from everfold.core.observation.costs import UNIT_PRICES, Prices
from everfold.services.inspection.replay import ModelUse

_GOOD, _BAD = "green", "bold red"


def print_replayed(replayed: Sequence[Replayed], prices: Prices = UNIT_PRICES) -> None:
    """Print the report of one replay in full, or a line for each of several."""
    console = open_console()
    if len(replayed) == 1:
        console.print(Text(f"\n{replayed[0].name}", style="bold"))
        console.print(make_table(("what", "", ""), report_rows(replayed[0], prices)))
    else:
        console.print(make_table(_COLUMNS, [_line(it) for it in replayed]))
    for it in replayed:
        for problem in list_problems(it):
            console.print(Text(f"{it.name}: {problem}", style=_BAD))


def to_document(replayed: Replayed, prices: Prices = UNIT_PRICES) -> dict[str, object]:
    """The report of one replay as one JSON value, with what its input costs at these prices."""
    return {
        "name": replayed.name,
        "session": replayed.session,
        "provider": replayed.provider,
        "is_sound": replayed.is_sound,
        "invalid_count": replayed.invalid_count,
        "violations": replayed.violations,
        "report": replayed.report,
        "cost": {"prices": prices, **_cost_by_way(replayed, prices)},
        "window": replayed.window.report,
    }


def list_problems(replayed: Replayed) -> list[str]:
    """Everything about a replay that must not be, in words."""
    verified = replayed.report.verification.problems
    problems = list(replayed.violations)
    problems += [f"message {it.seq}: {it.problem} (compaction {it.compaction_id or 'none'})" for it in verified]
    if replayed.report.over_budget_count:
        problems.append(f"{replayed.report.over_budget_count} windows were larger than their budget")
    return problems


def report_rows(replayed: Replayed, prices: Prices = UNIT_PRICES) -> list[tuple[Cell, Cell, Cell]]:
    """What a replay did, row by row: what, how much, and what that means."""
    it, window = replayed.report, replayed.window.report
    triggers = ", ".join(f"{count} by {trigger}" for trigger, count in it.compactions.items()) or "none was due"
    resent = f"{it.resent_tokens:,} tokens sent again, {it.resent_per_token:.2f} per token in"
    unexplained = sum(broken.count for broken in it.cache_breaks if broken.reason == "unexplained")
    sound = it.verification.is_sound
    return [
        ("messages", f"{it.messages_count:,}", f"{it.requests_count:,} requests"),
        ("tokens in", f"{it.raw_tokens:,}", "all messages in full"),
        ("in the window", f"{it.window_tokens:,}", _share(it.window_tokens, it.raw_tokens)),
        ("limit", f"{it.limit_tokens:,}", f"budget {it.budget_tokens:,}"),
        ("windows", f"{it.smallest_window_tokens:,} - {it.largest_window_tokens:,}", "smallest to largest, tokens"),
        ("over budget", _judged(it.over_budget_count), "windows"),
        ("shown now", f"{window.message_count:,}", f"messages, and {window.digest_count} digests for the rest"),
        ("compactions", f"{sum(it.compactions.values()):,}", triggers),
        ("kept", f"{it.kept_count:,}", f"word for word; {it.folded_later_count:,} of them folded later"),
        ("folded", f"{it.folded_count:,}", "into digests; all readable in history"),
        ("digests", f"{it.digests_count + it.rollups_count:,}", _digests(replayed)),
        *([] if it.model_use is None else _model_rows(it.model_use)),
        ("cache breaks", f"{sum(broken.count for broken in it.cache_breaks):,}", resent),
        ("read uncached", f"{it.uncached_per_token:.2f}", "tokens per token in, including the first reading"),
        *_cost_rows(replayed, prices),
        ("unexplained", _judged(unexplained), "cache breaks without a known reason"),
        ("stable prefix", f"{it.stable_share:.1%}", f"of all bytes; median {it.stable_share_median:.1%}"),
        ("validity", _judged(replayed.invalid_count), f"requests that {replayed.provider} would refuse"),
        (
            "coverage",
            _judged(len(it.verification.problems)),
            "problems; every message is shown or covered" if sound else "",
        ),
        ("a turn", f"{it.turn_micros_median:,} \u00b5s", f"median; 95 % under {it.turn_micros_p95:,} \u00b5s"),
    ]


def _cost_by_way(replayed: Replayed, prices: Prices) -> dict[str, float]:
    """What the input of all requests costs: sent whole, cut to a tail, and folded."""
    read = replayed.report.input
    return {"whole": read.whole.cost(prices), "tail": read.tail.cost(prices), "folded": read.folded.cost(prices)}


def _cost_rows(replayed: Replayed, prices: Prices) -> list[tuple[Cell, Cell, Cell]]:
    cost = _cost_by_way(replayed, prices)
    at = f"at {prices.input:g} per million input tokens, {prices.cached:g} cached"
    return [
        ("cost, folded", f"{cost['folded']:.4f}", at),
        ("cost, tail", f"{cost['tail']:.4f}", "each request cut to the newest messages"),
        ("cost, whole", f"{cost['whole']:.4f}", "each request with the whole conversation"),
    ]


def _digests(replayed: Replayed) -> str:
    it = replayed.report
    return f"{it.digests_count} digests, {it.rollups_count} rollups, {it.digest_tokens:,} tokens written"


def _model_rows(use: ModelUse) -> list[tuple[Cell, Cell, Cell]]:
    """How the digests of a model fared."""
    cost = "cost not known" if use.cost_usd is None else f"{use.cost_usd:.4f} USD"
    fared = f"{use.swapped_count:,} committed directly, {use.revised_count:,} as late digests"
    late = f", {use.waiting_count:,} pending" if use.waiting_count else ""
    return [
        ("by the model", f"{use.accepted_count:,}", fared + late),
        (
            "refused",
            f"{use.refused_count:,}",
            f"replaced by extractive ones; {use.degraded_count:,} compactions degraded",
        ),
        ("faults", f"{sum(use.faults.values()):,}", _counts(use.faults) or "no faulty replies"),
        ("model calls", f"{use.calls_count:,}", _counts(use.errors) or "all answered"),
        (
            "model tokens",
            f"{use.input_tokens:,}",
            f"in, {use.cached_tokens:,} of them cached; {use.output_tokens:,} out; {cost}",
        ),
    ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of the tokens in" if whole else ""


def _judged(count: int) -> Text:
    return Text(f"{count:,}", style=_BAD) if count else Text("none", style=_GOOD)


_COLUMNS = (
    "conversation",
    "messages",
    "tokens in",
    "window",
    "folds",
    "kept",
    "folded",
    "stable",
    "sent again",
    "invalid",
    "problems",
    "\u00b5s a turn",
)


def _line(replayed: Replayed) -> tuple[Cell, ...]:
    it = replayed.report
    return (
        replayed.name,
        it.messages_count,
        it.raw_tokens,
        it.window_tokens,
        sum(it.compactions.values()),
        it.kept_count,
        it.folded_count,
        f"{it.stable_share:.0%}",
        f"{it.resent_per_token:.2f}",
        _judged(replayed.invalid_count),
        _judged(len(it.verification.problems)),
        it.turn_micros_median,
    )
