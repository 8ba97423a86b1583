"""Rules of statements: Japanese. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="question",
        pattern=r"ですか[。?\uff1f]?$|ますか[。?\uff1f]?$",
        example="これは何ですか。",
    ),
    StatementRule(
        kind="remember",
        pattern="覚えてお|覚えていて|忘れないで",
        example="会議は三時だと覚えておいてください。",
    ),
    StatementRule(
        kind="correction",
        pattern="間違え|訂正|では?なくて?[、,]|じゃなくて",
        example="月曜ではなく、火曜です。",
    ),
    StatementRule(
        kind="decision",
        pattern="[にと]決め(?:た|まし)",
        example="電車で行くことに決めました。",
    ),
    StatementRule(
        kind="constraint",
        pattern="ないで(?:ください|くださ|ね|よ|$)|ては(?:いけ|なら)|なければ(?:なら|いけ)|必ず|までにお?",
        example="夜十時以降は電話しないでください。",
    ),
    StatementRule(
        kind="constraint",
        pattern=r"(?:これから|今後|いつも|毎回|常に|今から|次から).*(?:[てで](?:ください|下さい|ほしい|欲しい|お願い)|[てで](?:くれ|ね|よ)[。!]?$|お願いし|すること)|(?:常に|毎回).*こと[。!]?$|二度と.*(?:ないで|な[。!]?$)",
        example="今後は丁寧な言葉で答えてください。",
    ),
    StatementRule(
        kind="identity",
        pattern="と申します|私の名前|アレルギー",
        example="田中と申します。",
    ),
    StatementRule(
        kind="preference",
        pattern="が好き|が嫌い|が苦手|のほうがいい|の方がいい",
        example="私は窓側の席が好きです。",
    ),
)
