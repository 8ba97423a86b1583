"""The last day that Chinese, Japanese and Korean words name: until a day, this week, tomorrow.

Source: own rules; each example is tried in `tests/unit/core/text/test_ends.py`.
"""
# ruff: noqa: RUF001  (marks of other scripts are what this is about)

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

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
_UNTIL: Final = rf"(?:(?:直到|截至|到|至){_DAY}|{_DAY.replace('>', 'b>')} ?(?:まで|까지))"
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


def list_wide_ends(text: str, said_on: date) -> Iterator[date]:
    """The last days that a statement in one of these languages names, none where it tells the past or a start."""
    if compile_pattern(_PAST).search(text) or compile_pattern(_LASTING).search(text):
        return
    until = compile_pattern(_UNTIL).search(text)
    if until is not None:
        if (day := _read_day(until, said_on)) is not None:
            yield day
        return
    for pattern, name in _SPANS:
        if compile_pattern(pattern).search(text):
            yield _end_span(name, said_on)
            return


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
