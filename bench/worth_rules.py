"""Whether rules that a user laid down long ago still stand in a small window, and what stands there that is no rule.

- *tau logs*: user rules, errors and ids in digests of 10 and 20 % of each conversation, counted as `digest_quality.py`
  counts them: on digests, not on windows.
- *Planted*: messages with a rule around the middle of a generated talk of 100,000 tokens, in a window of 2.6 % of it;
  four a play.
- *Spread*: explicit rules (strength 3) and tempting non-rules, each a user message of its own, between 400 turns of a
  LoCoMo conversation, in windows of 10, 16 and 32 % of all of it.

A rule stands in a window when one line of it has at least 7 of 10 of the rule's different words; of a planted message
only the words of the rule count. A non-rule stands in the standing instructions when one of their lines shares as many
of its own words, or of the line's, with it.

The rules are `tests/data/standing/rules.jsonl`, phrased by an author who had not seen the code: split `dev` is the
first half, `held` the second.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, NotRequired, TypedDict

from bench.digest_quality import count_facts, read_tau
from bench.material.logs import chat_log
from bench.memory_filling import unsynced
from bench.opening import batched, temporary_folder
from bench.recall import DATA, ROOT, Turn, read_locomo
from bench.report import Row
from bench.worth_baselines import BASELINES
from bench.worth_windows import (
    PLAIN_SETTINGS,
    Played,
    Scope,
    copy_file,
    fold_case,
    play,
    shown_texts,
    standing_text,
    turn_tokens,
)

RULES: Final = ROOT / "tests" / "data" / "standing" / "rules.jsonl"
TAU_TARGETS: Final = {
    ("user rules", 0.1): 0.52,
    ("user rules", 0.2): 0.70,
    ("errors", 0.1): 0.65,
    ("errors", 0.2): 0.90,
    ("ids", 0.1): 0.25,
    ("ids", 0.2): 0.45,
}
PLANTED_TALK_TOKENS: Final = 100_000
PLANTED_SHARE: Final = 0.026
PLANTED_PLACES: Final = (0.41, 0.47, 0.53, 0.59)
"""Where the rules of one play stand in its talk: four together, since a play of one takes six seconds."""
SPREAD_TURNS_COUNT: Final = 400
SPREAD_RULES_COUNT: Final = 26
"""The most explicit rules in one play; the non-rules are shared out evenly."""
SPREAD_TARGETS: Final = {0.10: 70.0, 0.16: 75.0, 0.32: 80.0}
NON_RULES_SHARE: Final = 0.16
NON_RULES_MOST: Final = 20.0
WORDS_SHARE: Final = 0.7
LEAST_LINE_WORDS: Final = 3
EXPLICIT: Final = 3


class Rule(TypedDict):
    """One labelled user message; `rule` quotes its words that bind where the message says more than that."""

    text: str
    rule: NotRequired[str]
    kind: Literal["rule", "non_rule", "planted"]
    strength: int
    split: Literal["dev", "held"]


def read_rules(scope: Scope, kind: str) -> list[Rule]:
    """The messages of a kind that belong to a half."""
    split = "dev" if scope.half == "first" else "held"
    rules: list[Rule] = [json.loads(row) for row in RULES.read_text("utf-8").splitlines()]
    return [rule for rule in rules if rule["kind"] == kind and rule["split"] == split]


def measure_tau(scope: Scope) -> list[Row]:
    """User rules, errors and ids that digests of the airline talks hold."""
    if not (DATA / "tau-airline-dev.jsonl").exists():
        return [Row(figure="rules of tau logs", value="not measured: no EVERFOLD_DATA with tau-airline-dev.jsonl")]
    talks = list(read_tau())
    middle = len(talks) // 2
    chosen = talks[:middle] if scope.half == "first" else talks[middle:]
    held = {share: count_facts(chosen, share) for share in (0.1, 0.2)}
    return [
        Row(
            figure=f"tau logs, {kind} in digests of {share:.0%}, {scope.half} half ({held[share].all[kind]})",
            value=held[share].held[kind] / max(held[share].all[kind], 1),
            least=least,
        )
        for (kind, share), least in TAU_TARGETS.items()
    ]


def measure_planted(scope: Scope) -> list[Row]:
    """Rules planted in the middle of a long talk that stand in a window of 2.6 % of it."""
    rules = read_rules(scope, "planted")
    stands = asyncio.run(_plant_all(rules, seed=21 if scope.half == "first" else 22))
    _tell_missed(scope, "planted", rules, stands)
    figure = f"planted rules in a window of {PLANTED_SHARE:.1%}, {scope.half} half ({len(rules)})"
    return [Row(figure=figure, value=100 * sum(stands) / len(stands), unit="%", least=95, digits=0)]


async def _plant_all(rules: Sequence[Rule], *, seed: int) -> list[bool]:
    turns = list(_generated_talk(seed))
    limit_tokens = int(PLANTED_TALK_TOKENS * PLANTED_SHARE)
    places = [int(place * len(turns)) for place in PLANTED_PLACES]
    stands: list[bool] = []
    with temporary_folder() as folder, unsynced():
        before = await play(folder / "before.db", turns[: places[0]], limit_tokens, PLAIN_SETTINGS)
        for planted in batched(rules, len(places)):
            path = copy_file(before.path, folder / "planted.db")
            played = await play(path, list(_plant(turns, places, planted)), limit_tokens, PLAIN_SETTINGS)
            lines = list_lines(shown_texts(played.window))
            stands += [stands_in(rule, lines) for rule in planted]
    return stands


def _plant(turns: Sequence[Turn], places: Sequence[int], rules: Sequence[Rule]) -> Iterator[Turn]:
    """The turns from the first place on, with a rule before each place."""
    rule_at = dict(zip(places, rules, strict=False))
    for at in range(places[0], len(turns)):
        if at in rule_at:
            yield _say(rule_at[at], turns[at - 1])
        yield turns[at]


def _generated_talk(seed: int) -> Iterator[Turn]:
    """Plain talk of so many tokens, its last turn the assistant's."""
    left_tokens = PLANTED_TALK_TOKENS
    for at, entry in enumerate(chat_log(seed, messages_count=PLANTED_TALK_TOKENS)):
        role = str(entry.wire["role"])
        if left_tokens <= 0 and role == "user":
            return
        turn = Turn(
            name=str(at), session=1, role=role, speaker=role, text=str(entry.wire["content"]), said_at=entry.said_at
        )
        left_tokens -= turn_tokens(turn)
        yield turn


def _say(rule: Rule, after: Turn) -> Turn:
    """A user's message right after a turn."""
    return Turn(
        name=f"{after.name}+", session=after.session, role="user", speaker="user", text=rule["text"],
        said_at=after.said_at + timedelta(seconds=1),
    )  # fmt: skip


def measure_spread(scope: Scope) -> list[Row]:
    """Explicit rules between real turns that stand in a window, and non-rules in its standing instructions."""
    if not (DATA / "locomo-dev.json").exists():
        return [Row(figure="rules spread over real talk", value="not measured: no EVERFOLD_DATA with locomo-dev.json")]
    rules = [rule for rule in read_rules(scope, "rule") if rule["strength"] == EXPLICIT]
    non_rules = read_rules(scope, "non_rule")
    rows: list[Row] = []
    for share, least in SPREAD_TARGETS.items():
        plays = asyncio.run(_spread_all(scope, rules, non_rules, share))
        stands = [stands_in(rule, it.lines) for it in plays for rule in it.rules]
        _tell_missed(scope, f"spread, {share:.0%}", [rule for it in plays for rule in it.rules], stands)
        figure = f"explicit rules spread over talk, in a window of {share:.0%}, {scope.half} half ({len(stands)})"
        rows.append(Row(figure=figure, value=100 * sum(stands) / len(stands), unit="%", least=least, digits=0))
        rows += _baseline_rows(figure, plays)
        over = float(sum(it.over_budget_count for it in plays))
        rows.append(Row(figure=f"spread over talk, {share:.0%}: windows over the budget", value=over, most=0, digits=0))
        if share == NON_RULES_SHARE:
            rows += _non_rule_rows(scope, plays)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """One play: what was spread over it and the lines that stand at its end."""

    rules: Sequence[Rule]
    non_rules: Sequence[Rule]
    lines: list[frozenset[str]]
    standing: list[frozenset[str]]
    over_budget_count: int
    beside: dict[str, list[frozenset[str]]]


def _non_rule_rows(scope: Scope, plays: Sequence[_Spread]) -> list[Row]:
    stands = [shares_a_line(rule, it.standing) for it in plays for rule in it.non_rules]
    spread = [rule for it in plays for rule in it.non_rules]
    _tell_missed(scope, "non-rules that stand", spread, [not stood for stood in stands])
    figure = (
        f"tempting non-rules in the standing instructions at {NON_RULES_SHARE:.0%}, {scope.half} half ({len(stands)})"
    )
    own = [line for it in plays for line in it.standing if len(line) >= LEAST_LINE_WORDS]
    of_rules = sum(any(_shares(words_of(rule), line) for rule in it.rules) for it in plays for line in it.standing)
    return [
        Row(figure=figure, value=100 * sum(stands) / len(stands), unit="%", most=NON_RULES_MOST, digits=0),
        Row(figure="lines of those standing instructions that are of the spread rules", value=f"{of_rules} of {len(own)}"),
    ]  # fmt: skip


async def _spread_all(scope: Scope, rules: Sequence[Rule], non_rules: Sequence[Rule], share: float) -> list[_Spread]:
    talks = read_locomo()
    turns = next(
        it for _, it, _ in (talks[:2] if scope.half == "first" else talks[2:]) if len(it) >= SPREAD_TURNS_COUNT
    )
    plays_count = -(-len(rules) // SPREAD_RULES_COUNT)
    plays: list[_Spread] = []
    for number in range(plays_count):
        own, other = rules[number::plays_count], non_rules[number::plays_count]
        spread = list(spread_over(turns[:SPREAD_TURNS_COUNT], _alternate(own, other)))
        limit_tokens = int(sum(map(turn_tokens, spread)) * share)
        with temporary_folder() as folder, unsynced():
            played = await play(folder / "spread.db", spread, limit_tokens, PLAIN_SETTINGS)
        beside = {name: list_lines(show(spread, limit_tokens)) for name, show in BASELINES.items()}
        plays.append(_read_play(played, own, other, beside))
    return plays


def _baseline_rows(figure: str, plays: Sequence[_Spread]) -> Iterator[Row]:
    """How many of the same rules stand in what others would show in the same budget."""
    for name in BASELINES:
        stands = [stands_in(rule, it.beside[name]) for it in plays for rule in it.rules]
        yield Row(figure=f"{figure}: {name}", value=100 * sum(stands) / len(stands), unit="%", digits=0)


def _read_play(
    played: Played, rules: Sequence[Rule], non_rules: Sequence[Rule], beside: dict[str, list[frozenset[str]]]
) -> _Spread:
    return _Spread(
        beside=beside,
        rules=rules,
        non_rules=non_rules,
        lines=list_lines(shown_texts(played.window)),
        standing=list_lines([standing_text(played.window)]),
        over_budget_count=played.over_budget_count,
    )


def _alternate(rules: Sequence[Rule], non_rules: Sequence[Rule]) -> list[Rule]:
    """Both evenly mixed, each in its order."""
    placed = [(at / len(rules), rule) for at, rule in enumerate(rules)]
    placed += [((at + 0.5) / len(non_rules), rule) for at, rule in enumerate(non_rules)]
    return [rule for _, rule in sorted(placed, key=lambda it: it[0])]


def spread_over(turns: Sequence[Turn], rules: Sequence[Rule]) -> Iterator[Turn]:
    """The turns with each rule after one of them, evenly over all."""
    step = len(turns) / len(rules)
    after: dict[int, list[Rule]] = {}
    for number, rule in enumerate(rules):
        after.setdefault(int(number * step), []).append(rule)
    for at, turn in enumerate(turns):
        yield turn
        yield from (_say(rule, turn) for rule in after.get(at, ()))


def words_of(rule: Rule) -> frozenset[str]:
    """The different words of a rule, in folded case."""
    return _words(rule.get("rule", rule["text"]))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", fold_case(text)))


def list_lines(texts: Iterable[str]) -> list[frozenset[str]]:
    """The words of every line that is shown."""
    return [words for text in texts for line in text.splitlines() if (words := _words(line))]


def stands_in(rule: Rule, lines: Iterable[frozenset[str]]) -> bool:
    """Whether a line has at least 7 of 10 of the rule's words."""
    words = words_of(rule)
    return any(len(words & line) >= WORDS_SHARE * len(words) for line in lines)


def shares_a_line(rule: Rule, lines: Iterable[frozenset[str]]) -> bool:
    """Whether a line has most of the message's words, or the message most of the line's."""
    words = words_of(rule)
    return any(_shares(words, line) for line in lines)


def _shares(words: frozenset[str], line: frozenset[str]) -> bool:
    own = frozenset(word for word in line if not word.isdigit())
    least_count = WORDS_SHARE * min(len(words), len(own))
    return len(own) >= LEAST_LINE_WORDS and len(words & own) >= least_count


def _tell_missed(scope: Scope, title: str, rules: Sequence[Rule], stands: Sequence[bool]) -> None:
    if scope.tells_misses:
        for rule, stood in zip(rules, stands, strict=True):
            if not stood:
                print(f"  {title}: {rule['text']}")
