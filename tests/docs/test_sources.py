"""The reference of context sources says what the code does."""

import dataclasses
import re
from pathlib import Path

import pytest

from everfold.adapters.sources.building import KINDS
from everfold.adapters.sources.calendar import CalendarSettings
from everfold.adapters.sources.callable import CallableSettings
from everfold.adapters.sources.http import HttpSettings
from everfold.adapters.sources.mailbox import MailboxSettings

SETTINGS = {
    "calendar": CalendarSettings,
    "mailbox": MailboxSettings,
    "http": HttpSettings,
    "callable": CallableSettings,
}


def _name_default(field: dataclasses.Field[object]) -> str:
    if field.name == "query":
        return "all four"
    if field.default_factory is not dataclasses.MISSING:
        return str(field.default_factory())
    if field.default is dataclasses.MISSING:
        return ""
    return (
        str(field.default).lower() if field.default is None or isinstance(field.default, bool) else str(field.default)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_is_documented_with_its_default(project: Path, kind: str) -> None:
    """The table of each kind has its settings, in their order, with the defaults of the code."""
    page = (project / "docs" / "reference" / "sources.md").read_text("utf-8")
    section = page.partition(f"\n## `{kind}`\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| *(.*?) *\|", section, re.MULTILINE)
    assert rows == [(field.name, _name_default(field)) for field in dataclasses.fields(SETTINGS[kind])]
