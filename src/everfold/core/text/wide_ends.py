"""The last day that Chinese, Japanese and Korean words name: until a day, this week, tomorrow.

Source: own rules; each example is tried in `tests/unit/core/text/test_ends.py`.
"""
# ruff: noqa: RUF001  (marks of other scripts are what this is about)

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from everfold.core.text.end_days import SaidOn
from everfold.core.text.patterns import compile_pattern

_WEEKDAYS: Final = {
    name: at
    for at, names in enumerate(("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일"))
    for name in names
}
_DAY: Final = (
    r"(?:(?P<month>\d{1,2}) ?[月월] ?(?P<day>\d{1,2}) ?[日号號일]|(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
    r"|(?P<weekday2>[月火水木金土日])曜日?|(?P<weekday3>[월화수목금토일])요일)"
)
_UNTIL: Final = rf"(?:(?:直到|截至|到|至){_DAY}|{_DAY.replace('>', 'b>')} ?(?:まで|까지|に(?:終わ|終了|切れ)|[에]? ?(?:到期|结束|結束|过期|過期|끝나|만료|종료)))"
_SPANS: Final = (
    (r"今天|今日|今晚|今夜|오늘", "today"),
    (r"后天|後天|明後日|あさって|모레", "overmorrow"),
    (r"明天|明日|내일", "tomorrow"),
    (r"这周|這週|本周|这个星期|这星期|今週|이번 ?주", "week"),
    (r"下周|下週|下个星期|来週|다음 ?주", "next_week"),
    (r"这个月|本月|今月|이번 ?달", "month"),
    (r"今年|올해", "year"),
)
_PAST: Final = r"昨|去年|上周|上个月|过了|了[。.!！]?$|でした|ました|だった|先週|先月|었|았|했|지난"
_LASTING: Final = r"搬|结婚|生日|开始|截止|引っ越|結婚|誕生日|始ま|締切|이사|결혼|생일|시작|마감|从(?:今天|明天|下周)|から|부터|每|毎|매"
_MARKS: Final = r"[，,、。；;！!？?]|[.:：](?= |$)"
_DAY_ALONE: Final = rf"(?:{'|'.join(pattern for pattern, _ in _SPANS)}|まで|까지)[はにも는은에]?\s*$"
_COVERED: Final = r"^(?:请|請|别|別|不要|勿|所以)|ください|下さい|주세요|마세요"
"""A request beside what ends goes with it."""


def list_wide_ends(text: str, said: SaidOn) -> Iterator[date]:
    """The last days that a statement in one of these languages names, none where it tells the past, a start, or what lasts too."""
    if compile_pattern(_PAST).search(text) or compile_pattern(_LASTING).search(text):
        return
    ends = [(_find_last(clause, said), clause) for clause in _list_clauses(text)]
    days = [day for day, _ in ends if day is not None]
    is_covered = compile_pattern(_COVERED).search
    if days and all(
        day is not None or (at and is_covered(clause) is not None) for at, (day, clause) in enumerate(ends)
    ):
        yield max(days)


def _list_clauses(text: str) -> Iterator[str]:
    """The text between commas and stops; a day word before a comma belongs to what comes behind it."""
    start = 0
    for mark in compile_pattern(_MARKS).finditer(text):
        if compile_pattern(_DAY_ALONE).search(text[start : mark.start()]) is None:
            if clause := text[start : mark.start()].strip():
                yield clause
            start = mark.end()
    if clause := text[start:].strip():
        yield clause


def _find_last(clause: str, said: SaidOn) -> date | None:
    until = compile_pattern(_UNTIL).search(clause)
    if until is not None:
        return _read_day(until, said.day)
    return next(
        (_end_span(name, said.latest) for pattern, name in _SPANS if compile_pattern(pattern).search(clause)), None
    )


def _read_day(found: re.Match[str], said_on: date) -> date | None:
    got = {name.rstrip("b23"): value for name, value in found.groupdict().items() if value}
    if "weekday" in got:
        return said_on + timedelta(days=(_WEEKDAYS[got["weekday"]] - said_on.weekday() - 1) % 7 + 1)
    try:
        day = date(said_on.year, int(got["month"]), int(got["day"]))
    except ValueError:
        return None
    return day if day >= said_on else None


def _end_span(name: str, said_on: date) -> date:
    week_left = 6 - said_on.weekday()
    shifts = {"today": 0, "tomorrow": 1, "overmorrow": 2, "week": week_left, "next_week": week_left + 7}
    if name in shifts:
        return said_on + timedelta(days=shifts[name])
    if name == "year":
        return date(said_on.year, 12, 31)
    return date(said_on.year + said_on.month // 12, said_on.month % 12 + 1, 1) - timedelta(days=1)
