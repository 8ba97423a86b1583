"""What lifts a rule: only what speaks of the same, with nothing beside it."""

import pytest

from everfold.core.replacement.lifted_rules import list_lifted
from everfold.core.replacement.replacement import is_marked, replaces
from everfold.core.statements.kinds import EXPLICIT, LiftingRule
from everfold.core.statements.rule_tables.lifting import LIFTING
from everfold.core.statements.strengths import measure_strength

_PAIRS = (
    ("Never use emojis.", "You can use emojis again."),
    ("Never use emojis.", "Emojis are fine again."),
    ("Don't use any emojis in your replies.", "You can use emojis again."),
    ("Always add a joke at the end.", "Forget the rule about jokes."),
    ("Never book window seats.", "Scrap that, window seats are fine again."),
    ("Please always CC Carla.", "Stop CCing Carla."),
    ("Please always CC Ben.", "You don't need to CC Ben any more."),
    ("From now on write in lowercase.", "Write normally again, no more lowercase."),
    ("Never call before nine.", "It's fine to call before nine now."),
    ("Never call before nine.", "You may call before nine from now on."),
    ("Always reply in German.", "No need to reply in German any more."),
    ("Never deploy on Fridays.", "Deploying on Fridays is fine now."),
    ("No phone calls on Sundays.", "Phone calls on Sundays are OK again."),
    ("Benutze nie Emojis.", "Du darfst wieder Emojis benutzen."),
    ("Buche nie Fensterplätze.", "Fensterplätze sind wieder in Ordnung."),
)


@pytest.mark.parametrize("rule", [row for row in LIFTING if row.stands], ids=lambda rule: rule.example)
def test_a_wording_that_stands_binds_as_a_rule(rule: LiftingRule) -> None:
    """What lifts a rule by its wording alone is a standing instruction of full strength."""
    assert measure_strength("constraint", rule.example) == EXPLICIT


@pytest.mark.parametrize("rule", LIFTING, ids=lambda rule: rule.example)
def test_each_row_finds_its_example(rule: LiftingRule) -> None:
    """A row reads from its example what the example lifts, and no row before it does."""
    ((lifting, words),) = list_lifted(rule.example)[-1:]
    assert (lifting, words) == (rule.lifting, list_lifted(f"You can {rule.what} again.")[0][1])


@pytest.mark.parametrize(("rule", "lifted"), _PAIRS)
def test_a_rule_that_is_taken_back_is_replaced(rule: str, lifted: str) -> None:
    """What takes a rule back replaces it, also one that was saved, and says itself that it changes something."""
    assert is_marked(lifted)
    assert replaces(lifted, rule)
    assert replaces(lifted, rule, is_saved=True)


@pytest.mark.parametrize(("rule", "lifted"), _PAIRS)
def test_the_rule_given_again_replaces_what_took_it_back(rule: str, lifted: str) -> None:
    """The last word counts, in whichever direction."""
    assert replaces(rule, lifted)


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Never use emojis in contracts with clients.", "You can use emojis again."),
        ("Always use emojis.", "You can use emojis again."),
        ("Never use emojis.", "Can you use emojis again?"),
        ("Never use emojis.", "Ben said you can use emojis again."),
        ("Never use emojis.", "You can never use emojis again."),
        ("Never call before nine.", "You can call before nine tomorrow again."),
        ("Never call Anna.", "You can call Ben again."),
        ("Never call Anna before nine.", "You can call Anna again."),
        ("Never book a flight before nine.", "You can book flights again."),
        ("Never share the key.", "You can share the key again with Ben."),
        ("Always CC Ben and Carla.", "You don't need to CC Ben any more."),
        ("Never deploy on Fridays.", "Deploys on Mondays are fine now."),
        ("Always write short answers.", "Forget the rule about long answers."),
        ("Always reply in German.", "You no longer have to reply in English."),
        ("Never use tabs.", "Tabs are fine now in Makefiles."),
        ("Never use tabs.", "If it is a Makefile, tabs are fine again."),
        ("Never approve payments without asking me.", "You can approve payments again."),
        ("I am allergic to nuts.", "Nuts are fine again."),
        ("I use emojis.", "You can use emojis again."),
    ],
)
def test_what_is_not_clearly_taken_back_stays(rule: str, other: str) -> None:
    """Another thing, less than all of it, a condition, an end, a question or another's word leaves the rule as it is."""
    assert not replaces(other, rule)
