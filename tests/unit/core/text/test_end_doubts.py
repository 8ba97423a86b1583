"""What lasts stays, though it names days."""

from datetime import UTC, date, datetime

import pytest

from everfold.core.text.ends import find_end

MONDAY = datetime(2031, 3, 3, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "said",
    [
        "The clinic next door is open Tuesday to Saturday.",
        "This Monday to Friday job is killing me.",
        "They leave on Saturday mornings.",
        "She leaves on Friday because she works part time.",
        "My daughter's piano finishes on Wednesday at 4.",
        "My yoghurt expires in 3 days after opening.",
        "My visa expires in 90 days after entry.",
        "This cafe is closed Monday to Wednesday.",
        "My mother is coming Tuesday to Thursday to look after the kids.",
        "Como fuera de lunes a viernes.",
        "I'm on the road Monday to Thursday.",
        "I take this pill Monday to Friday.",
        "I'm in Hamburg Tuesday to Thursday and work from home otherwise.",
        "I'm in Hamburg Tuesday to Thursday.",
        "My dad is away Tuesday to Thursday.",
        "Our cleaner will be here Monday to Wednesday.",
        "I'm on parental leave days Monday and Tuesday only.",
        "I cover for colleagues on leave Monday to Friday.",
        "The next tram stop is served Monday to Saturday.",
        "Je garde un malade du lundi au vendredi.",
        "Ich bin von Montag bis Donnerstag unterwegs.",
        "This gym has yoga from Tuesday to Friday.",
        "Visiting hours are Monday to Wednesday.",
        "I am staying with my aunt Friday to Sunday.",
        "I am on a trip Monday to Thursday most weeks.",
        "I have company cars to drive Monday to Friday.",
        "We have guests Friday to Sunday in our guest house.",
        "My yoga class is Tuesday to Thursday at 7.",
        "My husband works nights Sunday to Thursday.",
        "The bar next to us is open Wednesday to Sunday.",
        "Parking here costs 4 euros Monday to Saturday.",
    ],
)
def test_a_range_of_days_may_be_of_every_week(said: str) -> None:
    """Days of the week end nothing without a leave, or a word for one week directly before them."""
    assert find_end(said, MONDAY) is None


@pytest.mark.parametrize(
    "said",
    [
        "Red wine gives me a headache for the next few days.",
        "Red wine gives me a headache for the next 2 days.",
        "Gluten gives me stomach pain for the rest of the day.",
        "Coffee at breakfast keeps me awake for the rest of the day.",
        "The museum is free in the morning and 12 euros for the rest of the day.",
        "A coffee and I am awake for the rest of the day.",
        "I am at the gym in the morning and at my desk for the rest of the day.",
        "I am cranky for the rest of the day without coffee.",
        "Milk makes me ill for the rest of the day.",
        "Chemo knocks me out for the next few days.",
        "My knee hurts for the next couple of days from running.",
        "I feel weak for the next few days with each treatment.",
        "The shop is open until noon and closed for the rest of the day.",
        "With a bad night I am useless for the rest of the day.",
        "Kaffee hält mich für den Rest des Tages wach.",
        "The pool is quiet for the rest of the afternoon.",
        "A nap leaves me groggy for the rest of the day.",
        "I'm fasting until noon and fine for the rest of the day.",
        "I'm useless for the rest of the day after two beers.",
        "Antihistamines make me sleepy for the next few hours.",
    ],
)
def test_an_effect_follows_on_any_day(said: str) -> None:
    """The rest of the day and a few days end only an order, or how the speaker is without a cause."""
    assert find_end(said, MONDAY) is None


@pytest.mark.parametrize(
    "said",
    [
        "I rake leaves on Saturday.",
        "My gardener rakes leaves on Saturday.",
        "Autumn leaves in October are my favourite sight.",
        "I dry my bay leaves on Saturday.",
        "I take part in May.",
        "I take leave in May.",
        "I am on leave on Thursday.",
        "My maternity leave in May is paid.",
        "Tomo parte el jueves.",
        "Prendo parte giovedì.",
        "Shopping carts expire in 2 days.",
        "Backups expire in 30 days.",
        "Our free trials expire in 14 days.",
        "Log data expires in 30 days.",
        "Our certificates expire in 90 days.",
        "Our coupons expire in 10 days.",
        "Our trial expires in 14 days.",
        "An opened jar expires in 5 days.",
        "A cold is over in a week.",
        "The voucher expires in 30 days.",
        "My phone battery runs out in 2 days.",
        "Opened milk runs out in 3 days.",
        "Winter ends in March.",
        "The school term ends in June.",
        "Our sprint ends on Friday.",
        "My shift ends on Friday.",
        "The garbage truck leaves on Thursday.",
        "My train leaves on Thursday.",
        "The semester ends in July.",
        "School ends in June.",
        "The market ends on Sunday.",
        "The tax year ends on 5 April.",
        "Ramadan ends on 6 March.",
        "Der Winter endet im März.",
        "La temporada termina en junio.",
        "The nurse goes home on Friday.",
        "Contracts end on 31 March.",
        "Paid parking ends on Saturday.",
        "The milk in my fridge runs out in 3 days.",
        "This medicine expires in 28 days.",
        "My migraine is over in a day.",
        "My hay fever ends in June.",
        "Our return window ends in 30 days.",
        "Our retro ends on Thursday.",
        "Our on-call rotation ends on Monday.",
        "My billing cycle ends on 28 March.",
        "The night bus leaves on Friday.",
        "Our storks leave in August.",
        "They leave in May and come back in October.",
        "Our free plan ends in 30 days.",
        "His insulin expires in 28 days.",
        "My oak loses its leaves in November.",
        "Fresh yeast expires in 10 days.",
        "Daylight saving time ends on 30 October.",
        "The rainy season ends in May.",
        "L'été finit en septembre.",
        "Mon train part jeudi.",
        "Je prends part à la chorale jeudi.",
        "Die Müllabfuhr fährt am Donnerstag ab.",
    ],
)
def test_what_recurs_or_has_a_lifetime_has_no_end(said: str) -> None:
    """Seasons, terms and lines recur, many things have a lifetime, and a noun like a verb of leaving leaves nowhere."""
    assert find_end(said, MONDAY) is None


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("The sale ends on 6 March", (2031, 3, 6)),
        ("My passport expires 2031-03-06", (2031, 3, 6)),
        ("Passport expires 2031-03-06", (2031, 3, 6)),
        ("My subscription runs out in 3 days", (2031, 3, 6)),
        ("She leaves on Thursday", (2031, 3, 6)),
        ("She will leave on Thursday", (2031, 3, 6)),
        ("I leave in 3 days", (2031, 3, 6)),
        ("I am in Oslo from Monday to Wednesday this week", (2031, 3, 9)),
        ("I am in Oslo next Monday to Wednesday", (2031, 3, 12)),
        ("I am in Oslo this Tuesday to Thursday", (2031, 3, 6)),
        ("Don't call me for the rest of the day", (2031, 3, 3)),
        ("I will be offline for the rest of the day", (2031, 3, 3)),
        ("For the rest of the day use door B", (2031, 3, 3)),
    ],
)
def test_what_is_said_of_one_time_ends(said: str, last: tuple[int, int, int]) -> None:
    """One owned thing, a person who leaves, days of a named week and an order for the rest of the day have an end."""
    found = find_end(said, MONDAY)
    assert found is not None
    assert found.date() == date(*last)


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("Please don't call me for the rest of the day because I'm in meetings.", date(2031, 3, 3)),
        ("No meetings with Bob for the rest of the day.", date(2031, 3, 3)),
        ("Don't deploy for the next few days because of the audit.", date(2031, 3, 8)),
        ("Don't schedule anything with Bob for the next few days.", date(2031, 3, 8)),
    ],
)
def test_what_is_forbidden_for_some_days_ends_whatever_its_reason(said: str, last: date) -> None:
    """A cause or company beside it makes no lasting rule of what is not to be done for so long."""
    ends_at = find_end(said, MONDAY)
    assert ends_at is not None
    assert abs((ends_at.date() - last).days) <= 1
