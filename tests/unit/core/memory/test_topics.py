"""Topics: which of several a name means."""

from dataclasses import replace

from everfold.core.memory.topics import choose_topic
from everfold.testing.kit.builders import CLERK, GUIDE
from everfold.testing.kit.memory_builders import topic


def test_a_name_means_what_holds_and_is_the_users_first() -> None:
    """An active topic comes before one that is not, the user tier before an agent's, agents by name; none means none."""
    shared = topic("top_1")
    guides, clerks = (topic(f"top_{agent}", tier="agent", agent_id=agent) for agent in (GUIDE, CLERK))
    held = replace(shared, status="quarantined")
    assert choose_topic([guides, clerks, shared]) == shared
    assert choose_topic([guides, clerks, held]) == clerks
    assert choose_topic([held]) == held
    assert choose_topic([]) is None
