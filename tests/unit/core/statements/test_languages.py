"""Two texts are of one language unless it is plain that they are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.statements.languages import find_other_language

TEXTS = {
    "English": "The plan is to move the meeting to Friday, because the train that she takes was cancelled and they have not been told which of the others will run.",
    "German": "Der Plan ist, das Treffen auf Freitag zu verlegen, weil der Zug, mit dem sie fährt, ausgefallen ist und nicht klar ist, ob die anderen fahren werden.",
    "French": "Le plan est de déplacer la réunion au vendredi, parce que le train qui est prévu pour elle a été annulé et que les autres ne sont pas dans le plan du jour.",
    "Spanish": "El plan es mover la reunión al viernes porque el tren que toma ha sido cancelado y los otros no están en el plan del día, como se dijo por la mañana.",
    "Cyrillic": "План состоит в том, чтобы перенести встречу на пятницу, потому что поезд отменили.",
    "Han": "计划是把会议改到星期五,因为她坐的火车取消了,而且还不知道其他的火车是否会开。我们明天再决定怎么办。",
    "kana": "会議を金曜日に動かす予定です。彼女が乗る電車が運休になり、ほかの電車が動くかどうかもまだ分かりません。",
}


@pytest.mark.parametrize("said", TEXTS)
@pytest.mark.parametrize("meant", TEXTS)
def test_languages_are_told_apart(said: str, meant: str) -> None:
    """A text agrees with a talk in its own language, and with no talk in another."""
    assert (find_other_language(TEXTS[said], TEXTS[meant]) is None) is (said == meant)


@pytest.mark.parametrize("said", ["English", "German"])
def test_a_talk_in_two_languages_allows_both(said: str) -> None:
    """Where people mix languages, either is right."""
    assert find_other_language(TEXTS[said], f"{TEXTS['English']} {TEXTS['German']}") is None


@given(st.text(max_size=200), st.text(max_size=30))
def test_too_little_to_tell_means_the_same(reply: str, talk: str) -> None:
    """With a few words of talk nothing is refused."""
    assert find_other_language(reply, talk[:12]) is None


def test_code_and_quotes_do_not_decide() -> None:
    """Headings, quotes and code of another language leave a text in its own."""
    reply = f'## Pending and next\n{TEXTS["German"]} "{TEXTS["English"]}" `the server was not ready`'
    assert find_other_language(reply, TEXTS["German"]) is None


def test_the_letters_of_codes_are_no_words() -> None:
    """A digest that lists identifiers beside little prose is in the language of its prose, whatever letters they have."""
    reply = """
    - Named: 19c92e0f (#93), Calolf (#91), Arwick (#93), d88c23e6 (#92), ORD-92656 (#94), a0e4e720 (#94), 7e1o5a2e (#97)
    - Entry d88c23e6 shows a different marker with 351 litres, sent as an e-mail. (#92)
    - My guest number is 19c92e0f, in case they ask. (#93)
    - ORD-22177 | Orander | proposal | 49.87 | marble statement in Calness (#95)
    """
    assert find_other_language(reply, TEXTS["English"]) is None
