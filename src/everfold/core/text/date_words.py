"""The words for dates, as data: months, weekdays, counts and spans of English, and relative days of any language.

A new word for a day is one row of `RELATIVE_DAYS`; `tests/unit/core/text/test_held_dates.py` tries its example.
"""

from typing import Final, NamedTuple

MONTHS: Final = (
    "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)? nov(?:ember)? dec(?:ember)?"
).split()
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
COUNTS: Final[dict[str, int]] = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "couple": 2,
    "three": 3,
    "few": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
UNIT_DAYS: Final = {
    "day": 1,
    "week": 7,
    "weekend": 7,
    "month": 31,
    "year": 366,
    "summer": 366,
    "winter": 366,
    "spring": 366,
    "autumn": 366,
    "fall": 366,
}
BACK: Final = frozenset(("last", "past", "previous"))
"""What takes a span back; `this` takes it either way, any other word ahead."""


class RelativeDay(NamedTuple):
    """One row: a word, how many days it is from today, and a sentence that says it."""

    language: str
    word: str
    days: int
    example: str


RELATIVE_DAYS: Final[tuple[RelativeDay, ...]] = (
    RelativeDay("English", "yesterday", -1, "I met Carla yesterday."),
    RelativeDay("English", "last night", -1, "It rained last night."),
    RelativeDay("English", "tomorrow", 1, "The plumber comes tomorrow."),
    RelativeDay("English", "day before", -2, "She called the day before yesterday."),
    RelativeDay("English", "day after", 2, "We fly the day after tomorrow."),
    RelativeDay("German", "gestern", -1, "Gestern war ich beim Arzt."),
    RelativeDay("German", "morgen", 1, "Der Klempner kommt morgen."),
    RelativeDay("German", "vorgestern", -2, "Vorgestern hat es geschneit."),
    RelativeDay("German", "übermorgen", 2, "Wir fliegen übermorgen."),
    RelativeDay("French", "hier", -1, "J'ai vu Paul hier."),
    RelativeDay("French", "demain", 1, "Le plombier vient demain."),
    RelativeDay("Spanish", "ayer", -1, "Ayer hablé con Marta."),
    RelativeDay("Spanish", "mañana", 1, "El fontanero viene mañana."),
    RelativeDay("Italian", "ieri", -1, "Ieri ho visto Luca."),
    RelativeDay("Italian", "domani", 1, "Il treno parte domani."),
    RelativeDay("Portuguese", "ontem", -1, "Ontem falei com a Ana."),
    RelativeDay("Portuguese", "amanhã", 1, "O voo sai amanhã."),
    RelativeDay("Dutch", "gisteren", -1, "Gisteren was ik ziek."),
    RelativeDay("Japanese", "昨日", -1, "昨日は雨でした。"),
    RelativeDay("Japanese", "明日", 1, "明日出発します。"),
    RelativeDay("Chinese", "昨天", -1, "我昨天见了小王。"),
    RelativeDay("Chinese", "明天", 1, "我们明天出发。"),
)
"""Words that mean a day wherever they stand in a text."""
