"""Rules of statements: Russian. What a row holds is said in `statements/kinds.py`."""
# ruff: noqa: RUF001  (letters of another script are what this is about)

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="запомни запомните забудь забудьте",
        pattern=r"@запомни(?:те)?\b|@не забудь(?:те)?\b",
        example="Запомни, что у Кати аллергия на орехи.",
    ),
    StatementRule(
        kind="correction",
        cues="ошибся ошиблась ошибка исправьте точнее передумал передумала вернее",
        pattern=r"@(?:ошибся|ошиблась|передумала?)\b|@исправьте\b|^(?:нет, |ой, )*(?:точнее|вернее),? \w",
        example="Я ошиблась, встреча в пятницу.",
    ),
    StatementRule(
        kind="decision",
        cues="решил решила решили",
        pattern=r"@(?:я|мы) (?:уже |всё-таки |наконец )?решил[аи]?\b",
        example="Мы решили переехать весной.",
    ),
    StatementRule(
        kind="constraint",
        cues="нельзя никогда всегда обязательно только должен должна должно должны дороже позже раньше",
        pattern=r"@(?:нельзя|обязательно) \w|^(?:пожалуйста,? )?(?:никогда не|всегда|только) \w|@\w+(?:ите|йте|йтесь) (?:только|всегда)\b|@не (?:дороже|позже|раньше|больше|более) \W?\d|@(?:не )?(?:должен|должна|должно|должны) (?:быть|стоить|включать|прийти) \w|@быть не (?:должно|должны|должен|должна)\b",
        example="Билет должен стоить не дороже 5000 рублей.",
    ),
    StatementRule(
        kind="identity",
        cues="зовут аллергия аллергии диабет",
        pattern=r"@(?:меня|сына|дочь|мужа|жену) зовут \w|@\u0443 (?:меня|нас|\w+) (?:\w+ )?(?:аллергия|диабет)\b",
        example="Меня зовут Игорь Петров.",
    ),
    StatementRule(
        kind="preference",
        cues="предпочитаю предпочитаем люблю любим ненавижу нравится нравятся",
        pattern=r"@(?:предпочитаю|предпочитаем|ненавижу) \w|@(?:я|мы) (?:не )?(?:люблю|любим) \w|@мне (?:не )?нрав(?:ится|ятся) \w",
        example="Мне нравится тихая музыка.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = ()
