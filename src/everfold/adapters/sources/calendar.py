"""A calendar: an iCalendar file, or an address that gives one."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from everfold.adapters.sources.calendar_events import CalendarEntry, CalendarView, read_calendar
from everfold.adapters.sources.environment import fill_references, find_path
from everfold.adapters.sources.fetching import Fetch, fetch
from everfold.adapters.sources.http import check_address, read_address
from everfold.adapters.sources.own_threads import OwnThreads
from everfold.adapters.sources.source_settings import check_above_zero, check_name
from everfold.core.sources.source_texts import clean_line, fit_lines, name_moment
from everfold.errors import InvalidInputError, SourceError

_ACCEPT: Final = "text/calendar, text/*;q=0.5, application/octet-stream;q=0.3"
_MOST_HOURS: Final = 8_784
_MOST_TITLE_CHARS: Final = 160
_MOST_PLACE_CHARS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarSettings:
    """Which calendar, and what of it to show.

    Attributes:
        name: The source is `calendar://NAME`.
        path: A file; or `url`, its address, or `url_env`, the variable that holds a secret one. One of the three.
        headers: Sent to the address; `${NAME}` stands for a variable of the environment.
        time_zone: In which to show times, and meant by times without one; the calendar's own, else UTC, when None.
        before_hours: How far before the window of time its events still count.
        after_hours: The same after it.
        description_chars: How much of an event's description to show.
        ca_file: A file of certificates to trust beside the usual ones.
        allow_private: Follow names and redirects into private networks, too.

    Source: OF-68 for 6 hours before and 24 after.
    """

    name: str
    path: str | None = None
    url: str | None = None
    url_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    time_zone: str | None = None
    before_hours: float = 6.0
    after_hours: float = 24.0
    description_chars: int = 0
    timeout_secs: float = 20.0
    max_bytes: int = 10_000_000
    max_redirects: int = 3
    ca_file: str | None = None
    allow_private: bool = False

    def __post_init__(self) -> None:
        what = f"the calendar {self.name!r}"
        check_name(self.name, what=what)
        if self.path is None:
            check_address(self.url, self.url_env, what=what)
        elif self.url is not None or self.url_env is not None:
            raise InvalidInputError(f"{what} has a path and an address; give one of path, url and url_env")
        check_above_zero(self, "timeout_secs", "max_bytes", what=what)
        if not all(0 <= hours <= _MOST_HOURS for hours in (self.before_hours, self.after_hours)):
            raise InvalidInputError(f"{what}: before_hours and after_hours are from 0 to {_MOST_HOURS}")
        if self.time_zone is not None:
            find_zone(self.time_zone, what=what)


def find_zone(name: str, *, what: str) -> ZoneInfo:
    """The time zone with this name.

    Raises:
        InvalidInputError: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise InvalidInputError(f"{what}: there is no time zone {name!r}; give one like Europe/Berlin") from error


class CalendarSource:
    """See `everfold.ports.sources.ContextSource`. The prompt is not read: a calendar answers one question only.

    Args:
        settings: Which calendar.
        environ: Where its secrets are; the process's own environment when None.
    """

    def __init__(self, settings: CalendarSettings, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environ = os.environ if environ is None else environ
        self._threads = OwnThreads(self.name)

    @property
    def name(self) -> str:
        """See the port."""
        return f"calendar://{self._settings.name}"

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:  # noqa: ARG002
        """See the port. A line for each event, in order, the changed ones marked."""
        given = self._settings
        raw = await self._threads.run(self._read_file) if given.path is not None else await self._fetch()
        first = from_at - timedelta(hours=given.before_hours)
        last = to_at + timedelta(hours=given.after_hours)
        zone = None if given.time_zone is None else ZoneInfo(given.time_zone)
        read = partial(read_calendar, raw, from_at=first, to_at=last, zone=zone, source=self.name)
        view = await self._threads.run(read)
        text = "\n".join(
            _write_view(view, first, last, changed_from=from_at, description_chars=given.description_chars)
        )
        return fit_lines(text, budget_tokens)

    async def close(self) -> None:
        """See the port; no connection outlives its question."""

    def _read_file(self) -> bytes:
        path = find_path(self._settings.path or "", source=self.name)
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its other end
                raise SourceError(
                    f"the source {self.name}: {path} is not a file; set the path of one", source=self.name
                )
            with path.open("rb") as file:
                raw = file.read(self._settings.max_bytes + 1)
        except OSError as error:
            raise SourceError(
                f"the source {self.name} cannot read {path} ({error.strerror}); check the path and its permissions",
                source=self.name,
            ) from error
        if len(raw) > self._settings.max_bytes:
            raise SourceError(
                f"the source {self.name}: {path} has more than {self._settings.max_bytes:,} bytes; give a smaller "
                "calendar, or raise max_bytes",
                source=self.name,
            )
        return raw

    async def _fetch(self) -> bytes:
        given, source = self._settings, self.name
        headers = {name: fill_references(it, self._environ, source=source) for name, it in given.headers.items()}
        fetched = await fetch(
            Fetch(
                source=source,
                url=read_address(given.url, given.url_env, self._environ, source=source),
                headers=headers,
                accept=_ACCEPT,
                timeout_secs=given.timeout_secs,
                max_bytes=given.max_bytes,
                max_redirects=given.max_redirects,
                ca_file=given.ca_file,
                allow_private=given.allow_private,
            )
        )
        return fetched.body


def _write_view(
    view: CalendarView, first: datetime, last: datetime, *, changed_from: datetime, description_chars: int
) -> Iterator[str]:
    """The lines of a summary: none when nothing is in the window of time and every event could be used."""
    if not (view.entries or view.unreadable_count or view.endless_count):
        return
    begin, end = (name_moment(at.astimezone(view.zone)) for at in (first, last))
    yield f"Events from {begin} to {end}:"
    for entry in view.entries:
        yield _write_entry(entry, changed_from=changed_from, description_chars=description_chars)
    if view.unreadable_count:
        yield f"({_count_events(view.unreadable_count)} of this calendar could not be read.)"
    if view.endless_count:
        yield f"({_count_events(view.endless_count)} of this calendar with a rule that cannot be followed.)"


def _count_events(count: int) -> str:
    return "1 event" if count == 1 else f"{count:,} events"


def _write_entry(it: CalendarEntry, *, changed_from: datetime, description_chars: int) -> str:
    title = clean_line(it.title, most_chars=_MOST_TITLE_CHARS) or "(no title)"
    place = clean_line(it.place, most_chars=_MOST_PLACE_CHARS)
    notes = "; ".join(_list_notes(it, changed_from))
    description = clean_line(it.description, most_chars=description_chars) if description_chars > 0 else ""
    parts = [_write_span(it), title, f"({place})" if place else "", f"[{notes}]" if notes else ""]
    line = "- " + " ".join(part for part in parts if part)
    return f"{line} - {description}" if description else line


def _write_span(it: CalendarEntry) -> str:
    if it.is_all_day:
        final = (it.end - timedelta(hours=1)).date() if it.end > it.start else it.start.date()
        first = it.start.date().isoformat()
        return f"{first} (all day)" if final <= it.start.date() else f"{first} to {final.isoformat()} (all day)"
    start = name_moment(it.start)
    if it.end == it.start:
        return start
    if it.end.date() == it.start.date() and it.end.utcoffset() == it.start.utcoffset():
        return f"{start[:16]}-{name_moment(it.end)[11:]}"
    return f"{start} to {name_moment(it.end)}"


def _list_notes(it: CalendarEntry, changed_from: datetime) -> Iterator[str]:
    if it.status in ("CANCELLED", "CANCELED"):
        yield "cancelled"
    elif it.status == "TENTATIVE":
        yield "tentative"
    if it.moved_from is not None:
        at = it.moved_from.date().isoformat() if it.is_all_day else name_moment(it.moved_from)
        yield f"moved away from {at}" if it.is_away else f"moved from {at}"
    zone = it.start.tzinfo
    if it.created_at is not None and it.created_at >= changed_from:
        yield f"new, made {name_moment(it.created_at.astimezone(zone))}"
    elif it.changed_at is not None and it.changed_at >= changed_from:
        yield f"changed {name_moment(it.changed_at.astimezone(zone))}"
