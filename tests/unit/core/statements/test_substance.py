import pytest

from everfold.core.statements.substance import measure_substance


@pytest.mark.parametrize("text", ["Take that one.", "Run again.", "You're right, let's do that.", "Keep it up!", "[]"])
def test_what_names_nothing_has_no_substance(text: str) -> None:
    """A sentence whose words all stand for something said elsewhere tells nothing by itself."""
    assert measure_substance(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "I agree completely.",
        "You're welcome!",
        "Aww, that's so sweet of you!",
        "It really was so much fun.",
        "Yeah, totally, I feel the same way.",
        "Sure thing, Melanie!",
        "Thanks for the kind words.",
        "That means a lot to me.",
        "lol that's hilarious",
        "That makes perfect sense, thank you for explaining.",
        "Can you fix that?",
        "Ja gerne, das passt für mich.",
        "Danke, das hat mir sehr geholfen.",
        "Sí, adelante, muchas gracias por todo.",
        "Sure, go ahead and do that.",
        "Oui, vas-y, merci beaucoup.",
        "Prima, heel erg bedankt voor je hulp.",
        "好的\uff0c没问题\uff0c谢谢你的帮助。",
        "ありがとうございます、助かりました。",
        "네, 알겠습니다. 감사합니다.",
        "Да, давай, спасибо большое за помощь.",
    ],
)
def test_what_only_agrees_or_thanks_has_no_substance(text: str) -> None:
    """Thanks, praise and assent tell nothing in any language, nor does a request for something that it only points at."""
    assert measure_substance(text) == 0


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("We agreed on the amazing plan of the Hamburg office.", 3),
        ("Can you fix that leak?", 2),
        ("Is that a red hat?", 2),
        ("Keep it fun and exciting.", 2),
        ("Always be kind.", 1),
        ("Sweet.", 1),
        ("Sounds great, Friday.", 1),
        ("I love Rome.", 1),
        ("Ich wohne in Ulm.", 2),
        ("J'habite à Lyon.", 2),
        ("我住在上海。", 2),
        ("Le bleu.", 1),
        ("我的爱好是爬山。", 2),
        ("Я живу в Москве.", 2),
    ],
)
def test_words_of_grammar_take_no_matter_with_them(text: str, least: int) -> None:
    """What names something beside words of courtesy and grammar counts by what it names, as in English."""
    assert measure_substance(text) >= least


@pytest.mark.parametrize(
    "text", ["Make it 3.", "Use anna@example.org.", "src/net/client.py", "max_retries", "改成六月十五日"]
)
def test_a_value_tells_what_a_few_words_do(text: str) -> None:
    """A number, an address, a path, a name of code, and a clause of a script without blanks count as several words."""
    assert measure_substance(text) >= 3


@pytest.mark.parametrize(
    "text",
    [
        "No nuts.",
        "I hate jazz.",
        "Feeling dizzy.",
        "Love it rare.",
        "Nice, France.",
        "I'd love to go to Nice, France.",
        "I can't hear.",
        "I can\u2019t hear.",
        "I can't help.",
        "I can't see well.",
        "I couldn't hear him.",
        "I couldn't feel anything.",
        "My man can't hear.",
        "Definitely no honey.",
        "No honey for me.",
        "I love honey.",
        "I enjoy rock.",
        "I don't enjoy rock.",
        "Sounds like rock.",
        "Rock, of course.",
        "I feel no joy.",
        "I never feel proud.",
        "Sure, no hugs.",
        "No care, thanks.",
        "I like sweet.",
        "I want the cute one.",
        "Strong and sweet.",
        "Not spicy, please.",
        "Never on Fridays.",
        "Nothing sweet please.",
        "I smoke.",
        "Mild, please.",
        "It's Friday.",
    ],
)
def test_a_short_fact_is_no_feeling(text: str) -> None:
    """A denial, a taste, a choice and the name of a thing tell something, also among words of feeling."""
    assert measure_substance(text) > 0


@pytest.mark.parametrize(
    "text",
    [
        "Can't wait to hear!",
        "I can't believe it!",
        "I couldn't agree more.",
        "I can't thank you enough.",
        "No worries, man.",
        "Don't worry, man.",
        "You rock, dude!",
        "That means the world to me.",
    ],
)
def test_a_set_phrase_is_a_courtesy(text: str) -> None:
    """What denies or names a thing in its form alone tells nothing."""
    assert measure_substance(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "Hi Tom, I am so happy for you, honey, Anna!!",
        "Oh Nate, you feel great, honey, Anna!",
        "Hey Anna! Can't wait to hear how you feel, Tom!",
    ],
)
def test_who_is_called_takes_no_feeling_away(text: str) -> None:
    """A name before what is felt, one behind it and a term of endearment tell nothing together."""
    assert measure_substance(text) == 0
