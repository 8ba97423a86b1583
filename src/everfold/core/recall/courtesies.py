"""Courtesies: sentences that nothing can be recalled for, and the words that say nothing of what is asked.

`trivial_prompts` knows prompts of a few words. Here a sentence beside others is told apart too: "Good morning! How are
you today?" holds words that many messages have, and asks for none of them. A *thin* word may stand in any sentence
("time", "today", "idea", the function words of several languages, a small number): alone it makes no message an answer.

Source: own lists, after nineteen prompts that had nothing to do with a talk of 419 messages, of which eight brought back
up to eight of these; the function words are the closed classes of each language, without those that are English nouns.
"""

import re
from functools import lru_cache
from typing import Final

from everfold.core.statements.quotes import REMEMBERED_TEXTS
from everfold.core.statements.substance import measure_substance
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.searching import is_question
from everfold.core.text.trivial_prompts import is_trivial
from everfold.core.text.words import STOP_WORDS, fold, read_words

_THIN_WORDS: Final = """
    today tomorrow yesterday tonight anymore ago yet ever always often sometimes perhaps anyway honestly actually certainly
    definitely totally completely fully probably idea question answer point sense problem worry matter course kind sort lot
    bit luck job work word doing going saying thinking looking trying getting talking guess hope wish believe agree
    appreciate understand help helpful mind care feel sound seem mean make wonder amaze awesome brilliant fantastic beautiful
    interesting funny hilarious incredible impressive exciting glad happy sad fun whats hows thats im ive ill ha hah heh
    yay yea whoa woah ooh aww omg btw imo man guys dear friend everyone long both enough forward back thing stuff someone day week
    month year hour minute moment true real late reply quick
    der das ist und mit ein eine einen einer eines den dem von zu auf fur sich auch wird sind im noch nach bei ich du er sie
    es wir ihr mir mich dir dich uns euch mein meine meinen meiner dein deine oder aber nicht kein keine habe haben hast
    hatte kann kannst wie wo was wann wer wem wen welche welcher welches warum dass dann heute gestern sehr schon gute guter
    gutes gut idee wirklich einfach geht
    le la les des et est cest une un pour dans que qui sur pas avec du au par ce cette ces sont il elle nous vous ne je tu mon ma
    mes ton ta tes ai suis quel quelle quels quelles quand comment ou pourquoi aussi ca c j l n qu aujourdhui demain hier
    bonne idee vraiment
    el los las una uno y es por para con de del se su sus como fue mas pero este esta esto ese esa al lo ha no yo tu mi mis
    me te nos que cual cuales cuando donde quien cuanto cuanta tengo tiene hoy manana ayer buena buen idea
    il lo gli i della del dei di che e per con una uno sono non nel alla da piu si io mio mia mi ti ci vi ho hai ha quale
    quali quando dove chi cosa perche oggi domani ieri buona
    o os as uma um e que com do da em dos foi se ao na no eu meu minha voce qual quando onde quem quanto tenho tem hoje
    amanha ontem boa ideia
    de het een en van is dat niet met voor op te aan ook als naar maar om ik jij je mijn wij ons hij zij wat waar wanneer wie
    welke heb heeft vandaag morgen gisteren goed idee
    и в на не что это я ты мы вы он она они мне меня мой моя мои у с как где когда кто какой какая какие какое почему ли же
    бы да есть был была сегодня завтра вчера очень
    i w na nie to jest ja ty moj moja moje mi mnie co gdzie kiedy kto jaki jaka jakie czy ze dzis jutro wczoraj
    什么 怎么 哪里 哪儿 我的 你的 今天 明天 昨天 是什 叫什 么名 好吗 是吗 这个 那个 可以 一下 一个 我们 你们 他们
    我想 你能 的是 是我 是的 有什 真的
    니다 습니 세요 해요 어요 까요 나요 입니 합니 있어 뭐예 예요 에요 인가 가요 지요 오늘 내일 어제
"""  # noqa: RUF001 - letters of other scripts are meant
_THIN: Final = STOP_WORDS.union(*(read_words(word) for word in _THIN_WORDS.split()))
_SMALL_NUMBER: Final = re.compile(r"\d{1,2}")
_KANA: Final = re.compile("[\u3040-\u309f]+")
"""Pairs of hiragana are mostly grammar."""
_FORMULA: Final = (
    r"(?:(?:hey|hi|hello|well|so|oh|ok|okay|and|thanks|bye|hallo|hola|bonjour|salut|ciao|ola|спасибо)[ ,]+)*(?:"
    r"how(?: (?:are|is|was|were|have|has|re|s)|s|re) (?:you|u|ya|yourself|it|things|everything|life|your (?:day|night|morning|evening))"
    r"(?: (?:been|doing|going|feeling|today|tonight|lately|all|so far|this \w+|these days|holding up|treating you))*"
    r"|what(?: is|s) (?:up|new|going on|happening)(?: with you)?(?: today| lately)?"
    r"|long time no (?:see|talk|speak|chat)|(?:we |i )?have(?:nt| not) (?:talked|spoken|chatted) (?:in|for) (?:a while|ages)"
    r"|(?:(?:ill|i will|well|we will|lets|gotta go) )?(?:talk|speak|chat|see|catch|write)(?: up)?(?: to| with)? (?:you|u|ya)(?: guys| all)?"
    r"(?: (?:soon|later|again|then|around|tomorrow|tonight|next time|in the morning))*"
    r"|(?:have|enjoy) (?:an? |the |your )?(?:rest of (?:the|your) )?(?:(?:good|great|nice|lovely|wonderful|fantastic|safe|pleasant|\w*day) )?"
    r"(?:day|night|evening|afternoon|morning|weekend|week|one|time|rest)(?: ahead| too| everyone)?|take care(?: of yourself)?|sleep (?:well|tight)"
    r"|what do you (?:think|mean|suggest|recommend)(?: (?:about|of|by) (?:it|that|this))?"
    r"|(?:do you have |have you (?:got )?|got )?any (?:other |more |further )?(?:suggestions?|ideas?|thoughts?|advice|questions?|tips?|recommendations?)"
    r"(?: for me)?|(?:can|could|would|will) you (?:please )?(?:help(?: me)?|repeat that|explain(?: that| it)?)(?: please)?"
    r"|wie gehts?(?: es)?(?: (?:dir|ihnen|euch|denn|so|heute))*|bis (?:morgen|bald|spater|dann)|schone?n? (?:tag|abend|nacht)(?: noch)?"
    r"|(?:comment )?ca va(?: bien)?|comment (?:vas tu|allez vous|tu vas)|quoi de neuf|a (?:demain|bientot|plus(?: tard)?)|bonne (?:journee|soiree|nuit)"
    r"|(?:y )?que tal(?: estas)?(?: hoy)?|como (?:estas?|te va|va todo)(?: (?:hoy|usted))*|hasta (?:manana|luego|pronto)"
    r"|come (?:stai|sta|va)(?: oggi)?|a (?:domani|presto|dopo)|buon[ao] (?:giornata|serata|notte)"
    r"|tudo bem(?: (?:com voce|contigo))?|como (?:vai|voce esta)(?: voce)?(?: hoje)?|ate (?:amanha|logo|mais)"
    r"|hoe gaat het(?: (?:met (?:je|jou|u)|vandaag))*|tot (?:morgen|later|ziens|straks)"
    r"|как (?:дела|ты|вы|поживаешь)(?: сегодня)?|до (?:завтра|свидания|встречи)|(?:спокоинои|добрыи|доброе|добрая) \w+"
    r"|jak sie masz|co slychac|do (?:jutra|zobaczenia)|milego dnia"
    r"|你好吗|你好嗎|最近怎么样|早上好|早安|晚上好|晚安|下午好|明天见|回头见|太好了|太棒了|辛苦了|非常感谢"
    r"|お?元気ですか|お?元気|おやすみなさい|おやすみ|こんばんは|お疲れ様です|お疲れ様でした|また明日|またね|すごい(?:ですね)?|いいですね"
    r"|잘 ?지내(?:세요|요|니|셨어요)?|안녕히 (?:가세요|계세요|주무세요)|잘 ?자요?|내일 (?:봐요?|만나요)|수고하셨습니다|정말 고마워요?"
    r")"
)
"""What is said by habit, in folded letters of lower case without apostrophes and marks."""
_OPENER: Final = re.compile(
    r"(?:thank(?:s| you)|thx|ty|cheers|hi|hello|hey|hiya|bye|goodbye|good (?:morning|afternoon|evening|night)|morning|welcome|wow|haha|congrats"
    r"|danke|hallo|guten (?:morgen|tag|abend)|tschuss|moin|merci|bonjour|bonsoir|salut|gracias|hola|buen[oa]s|grazie|ciao|buongiorno"
    r"|obrigad[oa]|ola|bom dia|dank je|hoi|спасибо|привет|dzieki|czesc|tack|hei|hej)\b"
)
_APOSTROPHE: Final = re.compile(r"['\u2019]")
_COMMA: Final = re.compile("[,;\uff0c\u3001]")
_OTHERS: Final = re.compile(r"[\W_]+")


@lru_cache(maxsize=REMEMBERED_TEXTS)
def is_thin(written: str) -> bool:
    """Whether a word as it is written says nothing of what a sentence is about."""
    if is_trivial(written) or not measure_substance(written):
        return True
    return all(map(_is_thin_word, read_words(written)))


def _is_thin_word(word: str) -> bool:
    return (
        word in _THIN
        or _SMALL_NUMBER.fullmatch(word) is not None
        or (len(word) > 1 and _KANA.fullmatch(word) is not None)
    )


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence asks for nothing that could be recalled: part by part by habit, or because all its words are thin.

    A question of thin words is no courtesy: "What did I do last night?" asks for something.
    """
    if _is_habit(sentence) or all(map(_is_habit, _COMMA.split(sentence))):
        return True
    if is_question(sentence):
        return False
    telling = [written for written in sentence.split() if not is_thin(written)]
    return not telling or (
        len(telling) == 1 and telling[0][0].isupper() and _OPENER.match(_plain(sentence)) is not None
    )


def _is_habit(part: str) -> bool:
    """Whether a part of a sentence has no substance or is a formula."""
    return (
        is_trivial(part) or not measure_substance(part) or compile_pattern(_FORMULA).fullmatch(_plain(part)) is not None
    )


def _plain(text: str) -> str:
    """A text in folded letters of lower case, single blanks between its words."""
    return _OTHERS.sub(" ", _APOSTROPHE.sub("", fold(text).lower())).strip()
