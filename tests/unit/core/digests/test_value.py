from datetime import UTC, datetime
from itertools import product

import pytest

from everfold.core.digests.value import LineValue, classify_line, read_value, weigh_line, weigh_value, weigh_words
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, LineKind

_AT = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("quote", "keys", "facts"),
    [
        ("Order RX-20441 went to bob@example.com.", {"rx-20441", "bob@example.com"}, set[str]()),
        ("See src/app/main.py and https://a.example/b now.", {"src/app/main.py", "https://a.example/b"}, set[str]()),
        ("It calls readValue and read_value twice.", set[str](), {"readvalue", "read_value"}),
        ("She ran 10km on Friday for $45.50.", set[str](), {"10km", "friday", "$45.50"}),
        ("we leave on monday, or tomorrow", set[str](), {"monday", "tomorrow"}),
        ("I loved reading with Amy Ellis.", set[str](), {"amy", "ellis"}),
        ('I loved "The Lean Startup" most.', set[str](), {"the", "lean", "startup", "the lean startup"}),
        ("Really good. Some people came.", set[str](), set[str]()),
        ("Could not agree more, Ann.", set[str](), set[str]()),
        ("Hey Ann, the tour of Oslo was great!", set[str](), {"oslo"}),
        ("Thanks so much, Ann! See you in Rome.", set[str](), {"rome"}),
        ("They called Bob, Ann and Eve.", set[str](), {"bob", "ann", "eve"}),
        ('"seat_no": "RX14C9", "city": "Oslo"', {"rx14c9"}, {"oslo"}),
        ("うちの犬は3歳です。", set[str](), {"3"}),
    ],
)
def test_facts_are_told_by_their_letters(quote: str, keys: set[str], facts: set[str]) -> None:
    """Identifiers, paths and addresses are keys; numbers, days, names and titles are facts, but not who is spoken to."""
    value = read_value(quote)
    assert value.keys == keys
    assert value.facts == facts


@pytest.mark.parametrize(
    ("kind", "origin", "standing", "line_class"),
    [
        ("remember", "user", True, 0),
        ("decision", "user", True, 1),
        ("preference", "user", True, 3),
        ("task", "user", False, 0),
        ("task", "assistant", False, 3),
        ("decision", "assistant", False, 1),
        ("correction", "assistant", False, 1),
        ("error", "tool", False, 2),
        ("state", "tool", False, 2),
        ("question", "user", False, 3),
    ],
)
def test_only_the_user_binds(kind: LineKind, origin: Origin, standing: bool, line_class: int) -> None:  # noqa: FBT001 - a case
    """What the user bound or asked for is of class 0, decisions 1, errors and end states 2, the rest 3."""
    assert classify_line(ExtractLine(1, origin, kind, 50, "x", 0, standing, _AT)) == line_class


@pytest.mark.parametrize(
    ("quote", "line_class"),
    [
        ("Never deploy on a Friday.", 0),
        ("Don't forget to take breaks when you study.", 3),
        ("I'd love to learn the cello.", 3),
    ],
)
def test_a_wish_or_an_advice_binds_nobody(quote: str, line_class: int) -> None:
    """What has no strength takes no room of what the user bound, though its words are those of a rule."""
    assert classify_line(ExtractLine(1, "user", "constraint", 50, quote, 0, True, _AT)) == line_class


def test_a_strong_rule_weighs_more() -> None:
    """Of two rules of one kind and score the stronger weighs more."""
    weights = [
        weigh_line(ExtractLine(1, "user", "constraint", 50, quote, 0, True, _AT), 0, 0.5, 4)
        for quote in (
            "From now on write totals in euros.",
            "No meetings for me on Wednesdays.",
            "Metal shelves in the shed.",
        )
    ]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > weights[1] > weights[2]


def test_a_listed_line_of_code_reports_nothing() -> None:
    """A numbered line of a file that a tool shows is of the rest, and weighs less than an error that a tool reports."""
    code, error = (
        ExtractLine(1, "tool", "error", 66, quote, 0, False, _AT)
        for quote in ('327\u2192 t.Fatal("Load returned nil")', "fatal: could not read from the remote repository")
    )
    assert (classify_line(code), classify_line(error)) == (3, 2)
    assert weigh_line(code, 3, 0.5, 4) < weigh_line(error, 2, 0.5, 4) / 2


def test_a_word_is_worth_less_the_commoner_it_is() -> None:
    """A word that every line holds is worth nothing, one that a single line holds the most."""
    worth = weigh_words([read_value(f"The garden has a {word}") for word in ("pond", "fence", "tree")])
    assert worth["garden"] < 0.25
    assert worth["pond"] == 1
    assert worth["garden"] < worth["pond"]


def test_what_nothing_can_replace_weighs_most() -> None:
    """An identifier is worth more than a number, a number more than a rare word."""
    value = read_value("order RX-20441 costs 412")
    order, number, key = sorted(_weigh_parts(value, weigh_words([value])).items(), key=lambda one: one[1])[-3:]
    assert (number[0], key[0]) == ("412", "rx-20441")
    assert key[1] > number[1] > order[1] > 0


def test_what_is_seen_adds_nothing() -> None:
    """Each part counts once, as the most that it is, and not where it is shown already."""
    value = LineValue(frozenset({"rx-1"}), frozenset({"rx-1", "412"}), frozenset({"rx-1", "412", "order"}))
    worth = weigh_words([value])
    parts = _weigh_parts(value, worth)
    assert weigh_value(value, worth) == sum(parts.values())
    for part, weight in parts.items():
        assert weigh_value(value, worth, {part}) == sum(parts.values()) - weight
    assert weigh_value(value, worth, parts.keys()) == 0


def test_what_a_line_is_worth_does_not_hang_on_the_order_of_its_words() -> None:
    """The parts of every line sum to the same number in any order, so that a digest is the same in every process."""
    quotes = [
        f"The {size} boat of pier {number} carries {load}, ropes and lamps past RX-{number}07 to the old harbour town of Ghent"
        for number, (size, load) in enumerate(
            product(("small", "long", "blue"), ("salt", "cork", "slate", "barley")), 1
        )
    ]
    values = [read_value(quote) for quote in quotes]
    worth = weigh_words(values)
    for value in values:
        parts = list(_weigh_parts(value, worth).values())
        sums = {sum(parts[at:] + parts[:at]) for at in range(len(parts))} | {sum(sorted(parts))}
        assert sums == {weigh_value(value, worth)}


def _weigh_parts(value: LineValue, worth: dict[str, float]) -> dict[str, float]:
    """What each fact and word of a line adds while nothing else of it is shown."""
    every = frozenset[str]().union(*value)
    return {part: weigh_value(value, worth, every - {part}) for part in every}
