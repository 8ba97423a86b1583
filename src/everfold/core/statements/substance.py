"""How much a line tells by itself, without the ones around it.

A digest shows lines alone: "Take that one." and "Keep it up!" are clear in their talk and tell nothing outside of it.

Source: DESIGN 3.4.
"""

import re
from functools import lru_cache
from typing import Final

from everfold.core.statements.quotes import REMEMBERED_TEXTS, list_words
from everfold.core.statements.rules import list_word_set

_IDLE: Final = list_word_set(
    "again already anyone anything bad best better bit check come different else even everything find fine first good"
    " great here's hold know last later like little look lot love many maybe much new next nice nothing now one's option"
    " other others part possible quite really right run same see show someone something soon talk tell thing things think"
    " time times today try two using wait watch way well work you'll you're you've we'd"
)
"""What stands for a thing or a doing that is named elsewhere."""
_VALUE: Final = re.compile(r"[\d/@_]|\w\.\w")
"""What a value, a path, an address or another identifier holds."""
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_LETTERS_PER_WORD: Final = 2
_VALUE_WORDS: Final = 3


@lru_cache(maxsize=REMEMBERED_TEXTS)
def measure_substance(text: str) -> int:
    """How many words of a text say what it is about; a value or an identifier counts as three.

    Of a script that is written without blanks, two letters count as a word.
    """
    count = 0
    for word in list_words(text) - _IDLE:
        if word.isascii():
            count += 1 if word.isalpha() or _VALUE.search(word) is None else _VALUE_WORDS
        elif _VALUE.search(word):
            count += _VALUE_WORDS
        else:
            count += max(1, len(_UNSPACED.findall(word)) // _LETTERS_PER_WORD)
    return count


def count_words(text: str) -> int:
    """How many words a text has; of a script that is written without blanks, two letters count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // _LETTERS_PER_WORD
