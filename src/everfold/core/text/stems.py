"""English words reduced to a stem, so that "painting", "painted" and "paints" meet.

A table takes irregular forms to their plain form first (went -> go), then the suffixes are cut in five steps. A stem
is a key, not a word. Words that hold a digit or a letter outside a-z are their own stem.

Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with its author's two later
departures (bli -> ble, logi -> log). The irregular forms are those of any school grammar.
"""

import re
from functools import lru_cache
from typing import Final

_IRREGULAR: Final = """
be was were been am is are|become became|begin began begun|bite bit bitten|blow blew blown|break broke broken
bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|come came|deal dealt|dig dug
do did done does|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
feed fed|feel felt|fight fought|find found|flee fled|fly flew flown flies|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone goes|grow grew grown|hang hung
have had has|hear heard|hide hid hidden|hold held|keep kept|know knew known|lay laid|lead led|lean leant|learn learnt
leave left|lend lent|light lit|lose lost|make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung
rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot
show shown|sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen
stick stuck|strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn
tell told|think thought|throw threw thrown|understand understood|undo undid undone|wake woke woken|wear wore worn
weep wept|win won|write wrote written
child children|foot feet|goose geese|half halves|knife knives|leaf leaves|man men|mouse mice|person people
shelf shelves|tooth teeth|wife wives|wolf wolves|woman women
good better best|bad worse worst|far farther farthest further
"""

_STEP_TWO: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_THREE: Final = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_TABLES: Final = tuple((table, tuple(table)) for table in (_STEP_TWO, _STEP_THREE))
_STEP_FOUR: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
    "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip

_MIN_CHARS: Final = 3
_MEASURE: Final = re.compile(r"[aeiouy][^aeiouy]")
_SHORT_END: Final = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")
_VOWEL: Final = re.compile(r"[aeiou]|(?<=[^aeiou])y")


def _read_irregular(table: str) -> dict[str, str]:
    """Each irregular form with its plain form."""
    families = (family.split() for line in table.split("\n") for family in line.split("|") if family)
    return {form: family[0] for family in families for form in family[1:]}


PLAIN_FORMS: Final = _read_irregular(_IRREGULAR)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a lower-case word; the word itself when it is short or no plain a-z."""
    word = PLAIN_FORMS.get(word, word)
    if len(word) < _MIN_CHARS or not (word.isascii() and word.isalpha()):
        return word
    return _cut_last_e(_cut_ending(_cut_suffix(_turn_y(_cut_past(_cut_plural(word))))))


def _measure(trunk: str) -> int:
    """How many times a vowel run is followed by a consonant run."""
    return len(_MEASURE.findall(trunk))


def _cut_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    return word[:-1]


def _cut_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        trunk = word.removesuffix(suffix)
        if trunk != word:
            return _mend(trunk) if _VOWEL.search(trunk) else word
    return word


def _mend(trunk: str) -> str:
    """The trunk with the e or without the doubled letter that its suffix had changed."""
    if trunk.endswith(("at", "bl", "iz")):
        return trunk + "e"
    if len(trunk) > 1 and trunk[-1] == trunk[-2] and trunk[-1] not in "aeiouylsz":
        return trunk[:-1]
    return trunk + "e" if _measure(trunk) == 1 and _SHORT_END.search(trunk) else trunk


def _turn_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _VOWEL.search(word[:-1]) else word


def _cut_suffix(word: str) -> str:
    for table, suffixes in _TABLES:
        if not word.endswith(suffixes):  # most words do not, and one look at all of them costs what one suffix does
            continue
        for suffix, shorter in table.items():
            if word.endswith(suffix):
                trunk = word[: -len(suffix)]
                word = trunk + shorter if _measure(trunk) > 0 else word
                break
    return word


def _cut_ending(word: str) -> str:
    for suffix in _STEP_FOUR if word.endswith(_STEP_FOUR) else ():
        if word.endswith(suffix):
            trunk = word[: -len(suffix)]
            if suffix in ("sion", "tion"):
                trunk += suffix[0]
            return trunk if _measure(trunk) > 1 else word
    return word


def _cut_last_e(word: str) -> str:
    trunk = word[:-1]
    if word.endswith("e"):
        count = _measure(trunk)
        return trunk if count > 1 or (count == 1 and not _SHORT_END.search(trunk)) else word
    return trunk if word.endswith("ll") and _measure(trunk) > 1 else word
