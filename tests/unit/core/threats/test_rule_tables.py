"""The rules of threats as data: every row finds its own example, and only its exceptions keep its counter-example out."""

import pytest
from tests.support.patterns import drop_exceptions, has_exceptions

from everfold.core.text.wordings import Wording, index_wordings
from everfold.core.threats.disguises import fold, list_readings
from everfold.core.threats.hostile import find_hostile
from everfold.core.threats.kinds import ThreatRule
from everfold.core.threats.rule_tables import RULES
from everfold.core.threats.scanning import scan_memory

ROWS = [(rule, wording) for rule in RULES for wording in rule.wordings]
IDS = [f"{rule.kind}: {wording.example}" for rule, wording in ROWS]


def finds(rule: ThreatRule, wording: Wording, text: str) -> bool:
    """Whether the row itself finds a text, with the cues of its rule and without its rule's other rows."""
    index = index_wordings([rule._replace(wordings=(wording,), scope="all")], scopes=("all",))
    folded = fold(text)
    readings = (folded.lowered, *(reading.text for reading in list_readings(folded)))
    return any(found for reading in readings for found in index.find(reading, excuse=lambda *_: False))


@pytest.mark.parametrize(("rule", "wording"), ROWS, ids=IDS)
def test_a_wording_finds_its_example(rule: ThreatRule, wording: Wording) -> None:
    """The row alone finds its example, and where its rule holds the example is told as its rule."""
    assert finds(rule, wording, wording.example)
    if rule.scope == "digest":
        assert find_hostile(wording.example) is not None
    else:
        found = scan_memory(wording.example, is_note=rule.scope == "note")
        assert (rule.kind, rule.name) in {(threat.kind, threat.rule) for threat in found}


@pytest.mark.parametrize(("rule", "wording"), ROWS, ids=IDS)
def test_only_the_exceptions_of_a_wording_keep_its_counter_example_out(rule: ThreatRule, wording: Wording) -> None:
    """A row with exceptions has a counter-example, which it does not find and would find without them; no other has one."""
    assert bool(wording.counter) == has_exceptions(wording.pattern)
    if wording.counter:
        without = wording._replace(pattern=drop_exceptions(wording.pattern))
        assert not finds(rule, wording, wording.counter)
        assert finds(rule, without, wording.counter)
