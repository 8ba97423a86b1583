"""A prompt is trivial when it holds nothing that could be recalled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.text.trivial_prompts import is_trivial

TRIVIAL = (
    "ok|OK!|yes please|continue|Thanks a lot!!|hi|hello there|okkkk|lol|...|go on|sounds good|perfect, thank you very much"
    "|👍|👍🏽🎉|❤️|  |/help|/new chat about boats|danke|weiter bitte|sí, gracias|continúa|d'accord|s'il vous plaît|Oui, vas-y|好的|继续|谢谢"
    "|はい|ありがとう|네|계속해줘|да|спасибо!|хорошо, продолжай|हाँ|ठीक है|نعم"
).split("|")
ASKING = (
    "what did I say?|yes, the blue one|/etc/hosts is broken|2|ok 5pm|When is my flight?|My dog|no meat|继续讲昨天的故事"
    "|go to Leeds|thanks Ida|why?|who am I|it works on Monday|说说我的狗|ok ok ok ok ok ok ok and so on and so on"
).split("|")


@pytest.mark.parametrize("prompt", TRIVIAL)
def test_nothing_is_recalled_for_assent(prompt: str) -> None:
    """Assent, greetings, thanks, "go on", commands and signs are trivial, in many languages."""
    assert is_trivial(prompt)


@pytest.mark.parametrize("prompt", ASKING)
def test_a_matter_is_never_trivial(prompt: str) -> None:
    """A name, a number, a path or a question word beside them asks for something."""
    assert not is_trivial(prompt)


@given(st.text(max_size=300), st.sampled_from(["Leeds", "boat", "42", "犬の名前"]))
def test_a_matter_anywhere_counts(around: str, matter: str) -> None:
    """Whatever follows it, a matter makes a prompt worth a recall."""
    prompt = f"{matter} {around}"
    assert not is_trivial(prompt)
