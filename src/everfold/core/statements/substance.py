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
_AGREEING: Final = list_word_set(
    "absolutely agree agreed agrees amazing appreciate assistant awesome brilliant completely continue cool definitely ever exactly excellent explaining fantastic"
    " glad haha happy help helped helpful helping helps hilarious lol makes perfect perfectly plan proceed sense sounds super totally understand understood"
    " wonderful wow figured forward go interaction idea encouragement support agreement"
    " aww yay congrats congratulations welcome proud worries luck"
    " ahead moment hat todo la un con mi va per"
)
"""A sentence of these words alone thanks, praises or agrees; beside others each tells something."""
_FELT: Final = list_word_set(
    "aw aww awww yay wow woah whoa omg ah ahh oh ooh hey yeah yea yep yup nope sure ya dude man guys buddy dear"
    " welcome congrats congratulations cheers thankful grateful worry worries worried luck care kind kindness sweet cute lovely"
    " beautiful gorgeous impressive inspiring incredible exciting excited thrilled stoked proud sad feel feels feeling felt feelings"
    " same truly way fun blast joy ton tons means hear enjoy enjoyed hope bet believe imagine must've"
    " pretty bit cool neat kudos hug hugs special certainly course relate interesting thoughtful rad looking posted"
    " later bye thing"
)
"""A sentence of three and more words that are all of these, or agree, tells how its speaker feels; one or two of them may answer."""
_FEELING: Final = _AGREEING | _FELT
_SET_PHRASES: Final = re.compile(
    r"\b(?:can(?:'|\u2019)?t (?:wait|believe (?:it|this|that)|imagine|thank you enough)\b|could(?:n't|n\u2019t| not) agree more\b|no (?:worries|problem|way|doubt)\b|don(?:'|\u2019)?t worry\b"
    r"|oh no\b|not (?:bad|at all)\b|(?:kind|sweet|lovely|nice|your) words\b|means? the world\b|(?:you|you guys|your) rock\b(?=[,!.]|$)|rock on\b|(?:that|this) rocks\b|(?:so|very|stay) strong\b)"
    r"|^honey,|, honey(?=[!.]*$)",
    re.IGNORECASE,
)
"""Courtesies whose words tell something elsewhere: "I can't hear.", "I enjoy rock."."""
_TELLING: Final = re.compile(
    r"\b(?:no|not|never|none|cannot|\w+n['\u2019]t)\b|\bthe \w+ ones?\b"
    r"|\bi (?:like|love|want|prefer|enjoy) (?!(?:it|this|that|these|those|you|your|him|her|them|us|our|how|when|what|the|to|so|talk|hear|see)\b|\w+ing\b)\w",
    re.IGNORECASE,
)
"""What denies, chooses or names a taste tells more than a feeling."""
_FELT_WORDS: Final = 3
_MOST_CALLED: Final = 3
"""How many words of no feeling a call may take out of a sentence: a name before it, a name behind it, and a "honey" before that."""
_CALLED: Final = re.compile(
    r"(?<=\w), (?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December)"
    r"[A-Z][a-z]+(?=[!.]*$)|^(?:Hey|Hi|Yeah|Wow|Oh|Thanks),? [A-Z][a-z]+(?=[,!])"
)
"""Who is spoken to, before or behind what is said."""
_PLACE: Final = re.compile(r"(?<=\w )[A-Z][a-z]+, [A-Z][a-z]+")
"""A town and its land: "Nice, France"."""
_ORDERS: Final = re.compile(
    r"\b(?:always|never|must|every|only|please|should|don't (?!worry))\b|^(?:keep|make) (?:it|this|them|that)\b|^(?:be|use|write|say|speak|talk|sound) ",
    re.IGNORECASE,
)
"""What may order how to speak ("Keep it fun.") rather than tell a feeling."""
_BARE_REQUEST: Final = re.compile(
    r"(?:please |and |so |now )*(?:can|could|will|would) (?:you|we) (?:please |just |also )*\w+ (?:it|that|this|them)(?: for me| again| now)*(?:,? please)?\W*",
    re.IGNORECASE,
)
"""What asks to do something with a thing that it only points at."""
_IDLE_ABROAD: Final = list_word_set(
    "danke dankeschön vielen dank bitte gerne gern genau klar prima gut sehr mir mich dir dich ihm ihn uns euch ihr wir ich du er sie es das"
    " der dem ein eine einen einem einer und oder aber auch noch nur schon ja nein nee doch nicht kein keine ist sind bist wird werden habe haben hast"
    " kann kannst machen mach mache macht geholfen hilfe hilft passt stimmt richtig alles mal jetzt dann weiter für mit von zu bei auf aus als wie wenn"
    " dass einverstanden nochmal bisschen etwas"
    " oui non merci beaucoup bonjour bonsoir salut d'accord accord vas-y vas allez parfait bien très tout toute c'est est cela ça ce cette ces le les une"
    " des du de et mais je tu il elle nous vous ils te se mon ma mes votre vos avec dans en au aux que qui quoi ne pas fait faire j'ai aidé aide"
    " s'il plaît continuez bon bonne"
    " sí si gracias muchas mucho muy bueno buena vale claro perfecto adelante por favor toda eso esto esta este está es el unos y pero qué"
    " lo nos tu su del para como cuando hola genial acuerdo ayuda ayudado excelente hazlo haz sigue"
    " grazie mille molte prego bene benissimo perfetto certo ottimo tutto molto sei sono è gli della che di per ti questo questa quello fatto"
    " aiuto aiutato procedi avanti così anche"
    " obrigado obrigada muito muita sim não isso perfeito ótimo tudo bem bom boa um uma mas pode você ajudou valeu"
    " dankjewel bedankt graag goed heel erg wel dat dit deze het een ik jij hij zij wij jullie mij zijn heeft heb kan doe maar verder zo voor geholpen hulp je"
    " да нет спасибо большое пожалуйста хорошо ладно понятно конечно давай давайте отлично супер это так всё все и в на \u0441 по за что как мне меня вы ты"
    " я мы очень помощь помог помогли продолжай продолжайте дальше ок окей не но"
    " tak nie dzięki dziękuję dobrze proszę tack tamam teşekkürler evet"
)
"""The same and the words of grammar in other languages, without those that are a thing's name in English ("hat", "pour")."""
_COURTESY: Final = re.compile(
    "(?:(?:\u975e\u5e38|\u591a)?(?:谢谢|謝謝|感谢|感謝)(?:你们|你|您|大家)?的?(?:帮助|帮忙|幫助|解释|回复)?|多谢|多謝|没问题|沒問題|没关系|好的?|可以|明白|知道|继续|請?繼續|请继续|当然|當然|是的|对的?|對的?|不用|不客气|太好|太棒|麻烦你|辛苦"
    "|(?:どうも)?ありがとう(?:ございます|ございました)?|はい|いいえ|ええ|うん|お願いします|お願い|了解(?:です|しました)?|わかりました|分かりました|なるほど|大丈夫(?:です)?|助かりました|続けて(?:ください)?"
    "|감사합니다|고맙습니다|고마워요?|알겠습니다|알았어요?|좋아요?|좋습니다|도와주셔서|계속해?(?:주세요)?|괜찮아요?|네|예|아니요)+[了吧啊哦呢呀的ね]*"
)
"""A clause of a script without blanks that only thanks or agrees."""
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
    words = list_words(_SET_PHRASES.sub("", text)) - _IDLE - _IDLE_ABROAD
    if words <= _AGREEING or _BARE_REQUEST.fullmatch(text):
        return 0
    if len(words - _FEELING) <= _MOST_CALLED and _only_feels(text):
        return 0
    count = 0
    for word in words:
        if word.isascii():
            count += 1 if word.isalpha() or _VALUE.search(word) is None else _VALUE_WORDS
        elif _VALUE.search(word):
            count += _VALUE_WORDS
        elif _COURTESY.fullmatch(word) is None:
            count += max(1, len(_UNSPACED.findall(word)) // _LETTERS_PER_WORD)
    return count


def _only_feels(text: str) -> bool:
    """Whether a sentence of several words says what its speaker feels, and to whom, and no more."""
    said = _SET_PHRASES.sub("", text if _PLACE.search(text) else _CALLED.sub("", text))
    is_felt = list_words(said) - _IDLE <= _FEELING and len(text.split()) >= _FELT_WORDS
    return is_felt and _ORDERS.search(text) is None and _TELLING.search(said) is None


def count_words(text: str) -> int:
    """How many words a text has; of a script that is written without blanks, two letters count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // _LETTERS_PER_WORD
