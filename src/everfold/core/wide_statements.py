"""What kind of statement a sentence of Chinese, Japanese or Korean is, by its plainest forms.

Theory of operation: these scripts set no blanks between words, or fuse them with their endings, so that no table of words
finds the rules worth trying. One pattern a kind is tried over the sentence instead, the more binding kind first.

Source: own grammar, as `statement_rules` for the languages whose words stand apart; DESIGN G3.
"""

import re
from typing import Final

from everfold.core.statements import StatedKind, Statement

_MOSTLY_WIDE: Final = 8
"""A text of whose characters fewer than one in so many takes more than a byte has no sentence of a wide script."""
_WIDE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTERS: Final = 3
"""How many letters of an alphabet say as much as one of these characters."""

_PATTERNS: Final[tuple[tuple[StatedKind, re.Pattern[str]], ...]] = (
    (
        "remember",
        re.compile("记住|記住|^请?记得|^請?記得|[别別]忘|不要忘|覚えてお|覚えていて|忘れないで|기억해|잊지 ?마"),
    ),
    (
        "correction",
        re.compile(
            "^不[对對](?!吗)|不是.{1,12}[,\uff0c]?(?:而)?是|改[成为為到]|更正|[说說弄搞写寫][错錯]|間違え|訂正|では?なくて?[、,]|じゃなくて|(?:이|가) 아니라|정정|바꿔"
        ),
    ),
    ("decision", re.compile("决定|決定|就[选選定]|[にと]決め(?:た|まし)|결정했|하기로 (?:했|하)")),
    (
        "constraint",
        re.compile(
            "(?<!要)不要(?![紧緊])|(?<!能)不能(?![理相等])|不可以|不[准許许]|不得(?![不了已])|^[别別](?![人的的处處客])|[\uff0c,][别別](?![人的处處客])|必[须須]|一定要|[务務]必|只能|禁止|最多|至少|不超[过過]"
            "|ないで(?:ください|くださ|ね|よ|$)|ては(?:いけ|なら)|なければ(?:なら|いけ)|必ず|までにお?|하지 ?마|하면 안|해야 ?(?:합|해|돼|한)|반드시|절대"
        ),
    ),
    (
        "identity",
        re.compile("我叫|我姓|我的名字|[过過]敏|高血[压壓]|糖尿病|と申します|私の名前|アレルギー|제 이름|알레르기"),
    ),
    (
        "preference",
        re.compile(
            "喜[欢歡]|[讨討][厌厭]|[宁寧][愿願]|偏好|更想|が好き|が嫌い|が苦手|のほうがいい|の方がいい|좋아(?:해|합)|싫어|선호"
        ),
    ),
)
_ASKS: Final = re.compile("[?\uff1f]$|[吗嗎呢][。?\uff1f]?$|ですか[。?\uff1f]?$|ますか[。?\uff1f]?$|까요?[.?\uff1f]?$")


def has_wide_script(text: str) -> bool:
    """Whether a text that is not ASCII has characters of Chinese, Japanese or Korean, more than a few.

    The size in bytes tells most texts of an alphabet without reading them.
    """
    more_bytes = len(text.encode("utf-8", "surrogatepass")) - len(text)
    return more_bytes * _MOSTLY_WIDE > len(text) and _WIDE.search(text) is not None


def measure_wide(text: str) -> int:
    """The length of a text in letters of an alphabet that would say as much."""
    return len(text) + (_LETTERS - 1) * len(_WIDE.findall(text))


def find_wide_statement(sentence: str, *, from_user: bool) -> Statement | None:
    """The statement that a sentence makes, or None; only a user's is standing, and a question never is."""
    if _ASKS.search(sentence):
        return Statement("question", False, 0, False)
    for kind, pattern in _PATTERNS:
        if found := pattern.search(sentence):
            return Statement(kind, from_user, found.start(), from_user or kind == "decision")
    return None
