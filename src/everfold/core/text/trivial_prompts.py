"""Prompts that nothing can be recalled for: assent, greetings, thanks and "go on", commands and signs.

In the languages that most logs are in.

Source: REQUIREMENTS HM-13; own list. Words that are also matters ("right", "next", "bien") stand in it because a prompt is
trivial only when it has nothing else.
"""

import re
import unicodedata
from typing import Final

from everfold.core.text.words import fold

_SPACED: Final = """
    y yes yeah yep yup ya yea aye n no nope nah ok okay okey okie k kk kay sure surely fine good great nice cool perfect awesome
    excellent wonderful lovely alright right correct exactly absolutely indeed agreed understood true got gotcha it that thats sounds
    looks works well very much so done lgtm hi hello hey hiya yo howdy there morning afternoon evening night bye goodbye cya later see
    you thanks thank thx ty tysm cheers please pls plz go on ahead continue proceed next more again carry keep going do lets let us
    start stop wait cancel hm hmm hmmm mm mhm uh um ah oh wow haha hehe lol np welcome sorry nevermind never mind and too a lot
    ja jawohl nein nee doch genau klar gut super prima toll danke dankeschon vielen dank bitte hallo guten tag morgen abend tschuss weiter mach mal
    gerne passt alles stimmt richtig okidoki moin servus
    si sí vale claro gracias muchas hola adios adiós sigue continua continúa continuar adelante bueno bien muy buenos dias días tardes noches de acuerdo
    por favor perfecto exacto
    oui non merci beaucoup bonjour bonsoir salut d accord daccord continue continuez vas y parfait bien tres très sûr sur s il sil te vous plaît plait
    sim nao não obrigado obrigada olá ola bom boa dia tarde noite continue continua pode continuar isso certo beleza tudo bem
    grazie mille ciao buongiorno buonasera va avanti continua perfetto certo esatto prego
    hoi dank je wel bedankt graag prima goed ga door verder
    da net нет да ок окей хорошо спасибо привет пожалуйста продолжай продолжайте дальше ладно понятно конечно угу ага
    tak nie dzieki dziękuję dzięki dobra dobrze cześć czesc prosze proszę dalej kontynuuj jasne
    evet hayir hayır tamam tesekkurler teşekkürler merhaba devam lütfen
    tack hej ja nej bra fortsätt takk hei nei tak nej
    naam نعم لا شكرا مرحبا حسنا استمر
    हाँ हां नहीं धन्यवाद नमस्ते ठीक है
"""  # noqa: RUF001 - letters of other scripts are meant
_UNSPACED: Final = """
    好 好的 是 是的 对 对的 對 對的 行 可以 嗯 嗯嗯 不 不是 谢谢 謝謝 谢谢你 多谢 你好 您好 继续 繼續 请继续 下一步 没问题 明白 明白了 知道了 收到 再见
    はい うん ええ いいえ いや ありがとう ありがとうございます どうも こんにちは おはよう おはようございます 続けて 続けてください 次 了解 了解です お願いします わかった わかりました オーケー
    네 예 응 아니 아니요 아니오 감사합니다 고마워 고마워요 안녕 안녕하세요 계속 계속해 계속해줘 계속하세요 좋아 좋아요 알겠습니다 알았어 그래 오케이
"""

_TRIVIAL: Final = frozenset(fold(word).lower() for word in (_SPACED + _UNSPACED).split())
"""Folded and in lower case."""
_MOST_WORDS: Final = 6
_MOST_CHARS: Final = 200
_COMMAND: Final = re.compile(r"[/!][A-Za-z][\w-]*(?:\s|$)")
_STRETCHED: Final = re.compile(r"(.)\1{2,}$")
_JOINING: Final = frozenset("'\u2019\u200d\ufe0f")


def is_trivial(prompt: str) -> bool:
    """Whether a prompt asks for nothing that could be recalled: assent, greetings, thanks, "go on", commands, signs.

    In several languages. O(length), bounded: a prompt with more than a few words, or a digit, asks for something.
    """
    text = prompt.strip()
    if _COMMAND.match(text):
        return True
    if len(text) > _MOST_CHARS:
        return False
    words = [word for word in "".join(map(_see_letter, fold(text).lower())).split() if any(map(str.isalnum, word))]
    return len(words) <= _MOST_WORDS and all(map(_is_trivial_word, words))


def _see_letter(char: str) -> str:
    """A letter, its mark or a digit as it is; nothing for an apostrophe or what joins signs; a blank for the rest."""
    if char in _JOINING:
        return ""
    return char if unicodedata.category(char)[0] in "LMN" else " "


def _is_trivial_word(word: str) -> bool:
    return word in _TRIVIAL or _STRETCHED.sub(r"\1", word) in _TRIVIAL
