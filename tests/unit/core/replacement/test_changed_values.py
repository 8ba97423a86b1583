"""What tells that a fact has changed without a word that stands for a change, and what never does."""

import pytest

from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our treasurer is Ivo Brandt.", "Ivo Brandt was voted out, our treasurer is Nele Voss."),
        ("The ferry takes two hours.", "They built a bridge, the ferry takes only one hour."),
        ("Our gardener is Piet.", "Piet retires in May, so our gardener is Sven."),
        ("Bruno waters the ferns.", "Bruno broke his arm, Klara waters the ferns."),
        ("I report to Nadia.", "After the merger I report to Tariq."),
    ],
)
def test_a_clause_that_tells_the_cause_makes_another_value_a_change(older: str, newer: str) -> None:
    """Beside what has happened, or what became of the old value, another value of the same thing takes its place."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("i am on the early shift", "im not on the early shift"),
        ("The exam is in writing.", "The exam isn't in writing, it is an oral one."),
        ("I'm allergic to latex.", "My doctor says I'm not allergic to latex at all."),
        ("The hut has no water.", "The hut has water now."),
        ("I hate olives.", "I've come to like olives."),
    ],
)
def test_a_denial_of_the_whole_takes_its_place(older: str, newer: str) -> None:
    """What denies exactly what was said, or affirms what was denied, replaces it."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The board meeting takes place in the blue hall on the second floor.", "The blue hall is taken, so the board meeting takes place in the canteen."),
        ("I take 40 mg of pantoprazole every evening before dinner.", "My doctor cut the pantoprazole down to 20 mg."),
        ("I have ballet for beginners every Monday at 5 pm.", "My ballet for beginners was switched to Tuesdays at 6 pm."),
        ("I keep the ladder behind the shed.", "The ladder is in the garage now."),
    ],
)  # fmt: skip
def test_details_need_not_be_told_again(older: str, newer: str) -> None:
    """A marked change that names the thing and the new value replaces what said more about it."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The gate on the east side closes at 8.", "The gate on the west side closes at 10 now."),
        ("The lowest bid for the roof is 900.", "The highest bid for the roof was raised to 1,600."),
        ("Write to members with Dear all.", "Write to sponsors with Dear friends from now on."),
        ("The call with Meyer is on 12 May.", "The lunch with Meyer has been moved to 19 May."),
        ("The pool opens at 8 on weekdays.", "The pool opens at 10 on Sundays now."),
        ("Trains to Bonn cost 40.", "Trains from Bonn went up to 55."),
        ("Max takes the tram at 7:10.", "Max takes the tram home at 15:40 now."),
    ],
)
def test_another_word_at_the_same_place_tells_another_thing(older: str, newer: str) -> None:
    """Where one word is left out and another stands instead, the two are about two things, however marked."""
    assert not replaces(newer, older, is_near=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Paula lent Jonas 50 euros.", "Jonas no longer lends Paula 50 euros."),
        ("Ute checks Olaf's texts.", "Olaf no longer checks Ute's texts."),
        ("I send the plans to Kim.", "Kim no longer sends me the plans."),
        ("I pay with a card.", "My mum stopped paying with a card."),
        ("I'm so into chess.", "My brother is so over chess."),
        ("I gave up smoking.", "I gave up sugar."),
    ],
)
def test_what_another_person_does_is_another_thing(older: str, newer: str) -> None:
    """The same words of another doer, or of a relative of the speaker, replace nothing."""
    assert not replaces(newer, older, is_near=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("leo is the goalie", "leo isnt the goalie anymore its sam"),
        ("Deadline: 3 May", "Deadline: 10 May"),
        ("use spaces for indentation", "nvm the spaces, use tabs for indentation"),
    ],
)
def test_shorthand_is_read_as_what_it_stands_for(older: str, newer: str) -> None:
    """Contractions without an apostrophe and notes without a verb are compared as sentences are."""
    assert replaces(newer, older, is_near=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our mailer is Postino.", "Postino was replaced by Courier."),
        ("My dictation app is Voxnote.", "Switched over from Voxnote to Scribe."),
        ("My gate badge is number 4417.", "I got a new gate badge, it's 4482."),
        ("My thesis topic is algae.", "I changed my thesis topic to moss."),
        ("My package is at the post office.", "I picked up my package from the post office."),
        ("My nephew has a milk allergy.", "My nephew outgrew the milk allergy."),
        ("Our team uses Kanban.", "We're trying Scrum instead of Kanban."),
    ],
)
def test_what_was_exchanged_or_fetched_is_so_no_more(older: str, newer: str) -> None:
    """A value that is replaced by another, and a place that something has left, take the older statement with them."""
    assert replaces(newer, older, is_near=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our meter reader is coming on Wednesday.", "Our meter reader is coming on Friday."),
        ("Our caterer is Lotte.", "Our caterer is Bram."),
        ("The choir meets in the parish hall.", "The choir meets at the library."),
        ("I'm on the basic tariff.", "I'm on the family tariff."),
        ("My favourite cheese is Comté.", "My favourite cheese is gouda."),
    ],
)
def test_what_has_one_value_at_a_time_takes_another_without_a_mark(older: str, newer: str) -> None:
    """What happens once, the holder of a role and the place of a thing change without a word that says so."""
    assert replaces(newer, older)
    assert not replaces(newer, older, is_saved=True)
