"""Whether two texts are in the same language, by their scripts and their commonest words; unsure means yes.

Source: DESIGN 3.4; the commonest words tell a language apart within some forty words (own measurement on the texts of the
tests); word lists are the closed classes of each language.
"""

import re
from collections import Counter
from typing import Final

from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern

_SCRIPTS: Final[tuple[tuple[str, str], ...]] = (
    ("Latin", "a-zA-Z\u00c0-\u024f\u1e00-\u1eff"),
    ("Greek", "\u0370-\u03ff"),
    ("Cyrillic", "\u0400-\u052f"),
    ("Hebrew", "\u0590-\u05ff"),
    ("Arabic", "\u0600-\u06ff\u0750-\u077f"),
    ("Devanagari", "\u0900-\u097f"),
    ("Thai", "\u0e00-\u0e7f"),
    ("kana", "\u3040-\u30ff"),
    ("Hangul", "\u1100-\u11ff\uac00-\ud7af"),
    ("Han", "\u4e00-\u9fff\u3400-\u4dbf"),
)
_WEIGHTS: Final = {"Han": 3, "kana": 2, "Hangul": 2}
"""A character of these says as much as so many letters."""
_LEAST_LETTERS: Final = 40
_LEAST_WORDS: Final = 25
_SPOKEN: Final = 0.12
"""From which share on a script counts as one of a text's own."""
_STOP_SHARE: Final = 0.08
_STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "English": list_word_set(
        "the and of to that is was for with are this have from they not be but by which has were their at on been would will"
    ),
    "German": list_word_set(
        "der die das und ist nicht mit ein eine den von zu auf für sich dem auch wird wurde als sind im noch nach werden hat bei"
    ),
    "French": list_word_set(
        "le la les des et est une pour dans que qui sur pas avec du au par ce sont été plus il elle nous vous ne"
    ),
    "Spanish": list_word_set(
        "el los las una y es por para con que del se su como fue más pero este esta al lo ha son no está"
    ),
    "Italian": list_word_set(
        "il gli della di che è per con una sono non del dei nel alla le da più come ha questo si stato anche"
    ),
    "Portuguese": list_word_set(
        "o os as uma e é para com que do da não em um dos por mais foi como se ao na no são está"
    ),
    "Dutch": list_word_set(
        "de het een en van is dat niet met voor op zijn te aan er ook als bij naar wordt werd door maar heeft om"
    ),
}
_WORD: Final = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
"""The letters within a code are no words: neither "19c92e0f" nor "e-mail" says the Portuguese "e"."""
_HEADING: Final = re.compile(r"^\s*#{1,6} .*$", re.MULTILINE)
_QUOTED: Final = re.compile(r"[\"\u201c\u201e\u00ab][^\"\u201d\u00bb\n]{0,300}[\"\u201d\u201c\u00bb]|`[^`\n]{0,300}`")


def find_other_language(reply: str, talk: str, *, usual: str | None = None) -> str | None:
    """The language or script of the reply where the talk has none of it; None where they agree or cannot be told.

    Headings and quotes of the reply do not count. `usual` is what a reply to a talk in no language is held to: calls and
    data alone. O(length).
    """
    reply = _QUOTED.sub(" ", _HEADING.sub(" ", reply))
    if script := _find_other_script(reply, talk):
        return script
    said, meant = _count_stop_words(reply), _count_stop_words(talk)
    if not said or not meant:
        return None
    language, share = max(said.items(), key=lambda one: one[1])
    second = max((other for name, other in said.items() if name != language), default=0.0)
    talked, talk_share = max(meant.items(), key=lambda one: one[1])
    if usual is not None and talk_share < _STOP_SHARE:
        talked, talk_share = usual, 2 * _STOP_SHARE  # codes are words by chance: DEN is an airport
    is_clear = share >= _STOP_SHARE and share >= 1.6 * second and talk_share >= _STOP_SHARE
    return language if is_clear and talked != language and meant[language] < talk_share / 2 else None


def _find_other_script(reply: str, talk: str) -> str | None:
    said, meant = _share_scripts(reply), _share_scripts(talk)
    if not said or not meant:
        return None
    for script, share in said.items():
        if script == "Latin":
            if share > 0.9 and meant.get("Latin", 0.0) < _SPOKEN / 2:  # noqa: PLR2004  (identifiers are Latin anywhere)
                return script
        elif share >= 2 * _SPOKEN and meant.get(script, 0.0) < _SPOKEN / 4:
            return script
    if said.get("Han", 0.0) > 0.5 and "kana" not in said and meant.get("kana", 0.0) > _SPOKEN:  # noqa: PLR2004  (Japanese is never Han alone)
        return "Chinese"
    return None


def _share_scripts(text: str) -> dict[str, float]:
    """What share of a text's letters each script has, weighted; empty where there are too few letters."""
    if text.isascii():
        letters = sum(map(str.isalpha, text[:4000]))
        return {"Latin": 1.0} if letters >= _LEAST_LETTERS else {}
    counts = {
        name: len(compile_pattern(f"[{members}]").findall(text)) * _WEIGHTS.get(name, 1) for name, members in _SCRIPTS
    }
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items() if count} if total >= _LEAST_LETTERS else {}


def _count_stop_words(text: str) -> dict[str, float]:
    """What share of a text's words each language's stop words have; empty where there are too few words."""
    words = Counter(word for word in _WORD.findall(text.lower()))
    total = sum(words.values())
    if total < _LEAST_WORDS:
        return {}
    return {language: sum(words[word] for word in stop_words) / total for language, stop_words in _STOP_WORDS.items()}
