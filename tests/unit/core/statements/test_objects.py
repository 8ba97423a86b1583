"""A rule is quoted together with the sentence that it points at, and with no other."""

from datetime import UTC, datetime

import pytest

from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.reading import find_extract_lines


def lines_of(text: str) -> tuple[ExtractLine, ...]:
    """The lines of a user's message."""
    said_at = datetime(2031, 3, 3, 8, tzinfo=UTC)
    return find_extract_lines(text, seq=1, origin="user", is_result=False, said_at=said_at)


def standing_quotes(text: str) -> list[str]:
    """The quotes of a message that stand."""
    return [line.quote for line in lines_of(text) if line.standing]


@pytest.mark.parametrize(
    "text",
    [
        "Anna is my boss. When you write to her, keep it short.",
        "The totals come in euros and in dollars. Always do that.",
        "Commas go behind the quotation mark. Always do it like that from now on.",
        "The blue folder belongs to accounting. Never touch it.",
        "The Costas quarrel with the Morettis. Never seat them at one table.",
        "Please remember this: \n the gate code is 5512.",
        "From now on:\n- amounts in euros",
        "Please stop calling me Bob. It's Robert.",
        "Never send invoices on a Sunday. This goes for reminders too.",
        "When you read my poems, don't flatter me. Be as strict as Marta.",
        "When I mention the harbour, remind me of the keys. Every day that it happens.",
        "The staging server is fragile. Never restart it.",
        "Invoices come on the 3rd. Always forward them to Carla.",
        "My ex is called Tom. Never invite him to Lisbon.",
        "My boss is called Dr. Vogt. When you write to him, use Sie.",
        "I like the second layout. From now on use it for all slides.",
        "The kids eat at six. Never call during that time.",
        "That was the wrong currency. Always use the other one.",
        "The report is confidential. It is for Anna. Never share it.",
        "There is one rule for mails. No greetings.",
        "From now on do it like this. First the total, then the list.",
        "Never send him anything. My ex-husband, I mean.",
        "The alarm code is 4417. Please don't forget it.",
    ],
)
def test_a_rule_keeps_its_object(text: str) -> None:
    """A rule that names its thing only by a pronoun, or by a colon, is one exact quote with the sentence that names it."""
    assert standing_quotes(text) == [text]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The weather is awful here. Never book a seat by the aisle.", "Never book a seat by the aisle."),
        (
            "We had a good trip. When you write to Anna, tell her the price.",
            "When you write to Anna, tell her the price.",
        ),
        ("My week was long. Keep the summary under a page.", "Keep the summary under a page."),
        (
            "The flat is small. When a guest asks, always send them the address.",
            "When a guest asks, always send them the address.",
        ),
        ("I had a long day. From now on, keep it short.", "From now on, keep it short."),
    ],
)
def test_a_rule_that_names_its_thing_stands_alone(text: str, quote: str) -> None:
    """The sentence before a rule that needs none is no part of its quote."""
    assert standing_quotes(text) == [quote]


def test_what_the_speaker_means_to_do_takes_nothing_with_it() -> None:
    """A plan or a thought that is told in words of a rule orders nothing, and points at no sentence before it."""
    (quote,) = standing_quotes("Your words mean a lot. I'll do my best to make sure these kids have a home.")
    assert quote == "I'll do my best to make sure these kids have a home."


def test_a_rule_takes_no_words_of_others_with_it() -> None:
    """A sentence that quotes another person is not joined to the rule behind it."""
    (quote,) = standing_quotes('The sign said "beware of the dog and of the cat". Never touch them.')
    assert quote == "Never touch them."


def test_a_rule_does_not_reach_over_a_paragraph() -> None:
    """What stands in the paragraph before is not what a rule points at."""
    assert standing_quotes("The blue folder is heavy.\n\nNever touch it.") == ["Never touch it."]


def test_a_rule_takes_one_sentence_with_it() -> None:
    """A rule that is said again and again is no chain: each points at one sentence at most."""
    quotes = standing_quotes("The badge is K-17. " + "Write it down for the others, please. " * 5)
    assert quotes[0] == "The badge is K-17. Write it down for the others, please."
    assert set(quotes[1:]) == {"Write it down for the others, please."}


def test_no_two_lines_begin_at_one_place() -> None:
    """The sentence that is joined to a rule is no line of its own any more."""
    lines = lines_of("Anna is my boss. When you write to her, keep it short. She starts on 3 May.")
    assert len({line.start for line in lines}) == len(lines)
    assert lines[0].quote == "Anna is my boss. When you write to her, keep it short."


def test_what_the_user_dictates_is_a_part_of_the_rule() -> None:
    """Words in quotation marks behind an order to sign or begin with them are the user's own, whatever they hold."""
    text = 'When you write to the landlord, sign as "R. Falk, Housing Office" and not with my first name.'
    assert standing_quotes(text) == [text]
