"""The events of a calendar within a window of time: recurrences expanded, instances moved and cancelled, zones applied."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from everfold.adapters.sources.calendar_rules import Steps, bound_rules
from everfold.adapters.sources.calendar_text import prepare_calendar
from everfold.errors import SourceError

Component: TypeAlias = Any
"""A calendar or an event of the library, whose properties may be of many types."""

_SLACK: Final = timedelta(days=2)
"""By how much a day may be another one in another zone, and reserve."""
_FAULTS: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, OSError)
"""What the libraries stumble with over an odd calendar; their own errors are ValueErrors."""
_TIMING: Final = frozenset({"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEntry:
    """One event at one time.

    Attributes:
        start: Aware, in the zone to show; the beginning of its first day when it is all day.
        end: Not included; the start again for an event without a length.
        moved_from: Where the series had it, when this instance was moved.
        changed_at: When it was last changed, where the calendar says so.
        is_away: It was in the window of time and was moved out of it.
    """

    start: datetime
    end: datetime
    is_all_day: bool
    title: str
    place: str
    description: str
    status: str
    moved_from: datetime | None
    created_at: datetime | None
    changed_at: datetime | None
    is_away: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarView:
    """What a calendar holds within a window of time, in order, and how many of its events could not be used.

    Attributes:
        event_count: How many events were looked at, each changed instance of a series counted.
    """

    entries: Sequence[CalendarEntry]
    zone: ZoneInfo
    event_count: int
    unreadable_count: int
    endless_count: int

    @property
    def is_unusable(self) -> bool:
        """Whether there are events, and none could be used."""
        return 0 < self.event_count == self.unreadable_count + self.endless_count


def read_calendar(
    raw: bytes, *, from_at: datetime, to_at: datetime, zone: ZoneInfo | None, source: str
) -> CalendarView:
    """What of an iCalendar file lies between two times.

    Args:
        raw: The file.
        from_at: An event that ends at or before it is left out, unless it has no length and is then.
        to_at: An event that begins at or after it is left out.
        zone: To show times in, and that of times without one; when None, the first one of the file, else UTC, and each
            calendar's own for its times without one.
        source: Whose it is, for errors.

    Raises:
        SourceError: it is no calendar, or nothing in it can be read.
    """
    first, last = (from_at - _SLACK).date(), (to_at + _SLACK).date()
    text, left_count = prepare_calendar(raw, first=first, last=last, source=source)
    try:
        view = _read_text(text, from_at=from_at, to_at=to_at, zone=zone)
    except _FAULTS as error:
        raise SourceError(
            f"the calendar of {source} cannot be read ({type(error).__name__}); check it with the program that wrote it",
            source=source,
        ) from error
    if not left_count and view.is_unusable:
        raise SourceError(
            f"none of the events of the calendar of {source} can be read; check it with the program that wrote it",
            source=source,
        )
    return view


def _read_text(text: bytes, *, from_at: datetime, to_at: datetime, zone: ZoneInfo | None) -> CalendarView:
    from icalendar import Calendar

    found = [it for it in Calendar.from_ical(text, multiple=True) if it.name == "VCALENDAR"]
    shown = zone or _find_zone(found) or ZoneInfo("UTC")
    views = [
        _Reader(it, from_at=from_at, to_at=to_at, zone=shown, own_zone=zone or _find_zone([it]) or shown).read()
        for it in found
    ]
    return CalendarView(
        entries=sorted((it for view in views for it in view.entries), key=_order),
        zone=shown,
        event_count=sum(view.event_count for view in views),
        unreadable_count=sum(view.unreadable_count for view in views),
        endless_count=sum(view.endless_count for view in views),
    )


def _order(entry: CalendarEntry) -> tuple[datetime, datetime, str]:
    return entry.start, entry.end, entry.title


def _find_zone(calendars: Iterable[Component]) -> ZoneInfo | None:
    """The zone that the first of these says it is in, which says so. Source: X-WR-TIMEZONE, as Google and Apple write it."""
    for calendar in calendars:
        name = str(calendar.get("X-WR-TIMEZONE", "")).strip()
        try:
            return ZoneInfo(name)
        except (ValueError, OSError, KeyError):  # unknown, no name of a zone, or a path
            continue
    return None


class _Reader:
    """Reads one calendar.

    The expansion raises for the first event that it cannot take, so the events are first tried together, and one by
    one only when that fails.
    """

    def __init__(
        self, calendar: Component, *, from_at: datetime, to_at: datetime, zone: ZoneInfo, own_zone: ZoneInfo
    ) -> None:
        self._calendar = calendar
        self._zone, self._own_zone = zone, own_zone
        self._from_at, self._to_at = from_at.astimezone(zone), to_at.astimezone(zone)
        self._unreadable_count = self._endless_count = 0
        self._stamps_tell = _stamps_tell(calendar)

    def read(self) -> CalendarView:
        """What it holds within the window of time."""
        events = self._choose_events()
        event_count = len(events) + self._unreadable_count + self._endless_count
        overrides = sorted((it for it in events if "RECURRENCE-ID" in it), key=_moves_later, reverse=True)
        told = {self._key(it): it for it in overrides}
        occurrences = self._expand_around(events, told)
        shown = {self._key(it) for it in occurrences}
        away = [it for key, it in told.items() if key not in shown and self._was_here(it)]
        entries = [*self._make_all(occurrences, overrides), *self._make_away(away)]
        return CalendarView(
            entries=entries,
            zone=self._zone,
            event_count=event_count,
            unreadable_count=self._unreadable_count,
            endless_count=self._endless_count,
        )

    def _choose_events(self) -> list[Component]:
        """The newest revisions of those whose times can be read, where their rules end."""
        steps, chosen, readable = Steps(), list[Component](), list[Component]()
        since, until = self._from_at.astimezone(UTC) - _SLACK, self._to_at.astimezone(UTC) + _SLACK
        for event in self._calendar.walk("VEVENT"):
            if not isinstance(event.get("SEQUENCE", 0), int):
                del event["SEQUENCE"]  # the expansion compares it
            if _has_times(event) and self._can_place(event):
                readable.append(event)
            else:
                self._unreadable_count += 1
        for event in self._list_newest(readable):
            if bound_rules(event, since=since, until=until, steps=steps):
                chosen.append(event)
            else:
                self._endless_count += 1
        return chosen

    def _list_newest(self, events: list[Component]) -> list[Component]:
        """Of the revisions of an event, or of one instance of a series, the newest; of equal ones the first.

        A newer change of one instance stands beside that which moves it with those after it.

        Source: RFC 5546, 2.1.5; RFC 5545, 3.8.4.4.
        """
        newest: dict[tuple[str, datetime | None, bool], Component] = {}
        for event in events:
            instance = self._key(event)[1] if "RECURRENCE-ID" in event else None
            key = _find_uid(event), instance, _moves_later(event)
            newest[key] = max(newest.get(key, event), event, key=_find_revision)
        return [
            it
            for (uid, at, _), it in newest.items()
            if _find_revision(it) >= _find_revision(newest.get((uid, at, True), it))
        ]

    def _can_place(self, event: Component) -> bool:
        """Whether the times of a moved instance are ones in the zone to show: those of the years 1 and 9999 may not be."""
        try:
            return "RECURRENCE-ID" not in event or bool(self._span(event) and self._key(event))
        except _FAULTS:
            return False

    def _expand_around(self, events: list[Component], told: dict[tuple[str, datetime], Component]) -> list[Component]:
        """The occurrences.

        The expansion knows one change of an instance, so the one beside a change of those after it too is put in here.
        """
        hidden = [it for it in events if _moves_later(it) and told[self._key(it)] is not it]
        beside = [told[self._key(it)] for it in hidden]
        places = {(self._key(it), self._span(it)[0]) for it in hidden}
        found = self._expand([it for it in events if not any(it is one for one in beside)])
        shown = [it for it in found if (self._key(it), self._span(it)[0]) not in places]
        return [*shown, *filter(self._is_here, beside)]

    def _expand(self, events: list[Component]) -> list[Component]:
        try:
            return self._expand_together(events)
        except _FAULTS:
            groups: dict[str, list[Component]] = {}
            for event in events:
                groups.setdefault(_find_uid(event), []).append(event)
            return [it for group in groups.values() for it in self._expand_alone(group)]

    def _expand_alone(self, events: list[Component]) -> list[Component]:
        try:
            return self._expand_together(events)
        except _FAULTS:
            self._unreadable_count += len(events)
            return []

    def _expand_together(self, events: list[Component]) -> list[Component]:
        import recurring_ical_events  # type: ignore[import-untyped]  # it says nothing of its types

        part = self._calendar.copy()
        part.pop("X-WR-TIMEZONE", None)  # the expansion would move the times of events by it; it is applied here
        part.subcomponents = [*(it for it in self._calendar.subcomponents if it.name != "VEVENT"), *events]
        found = recurring_ical_events.of(part).between(self._from_at - _SLACK, self._to_at + _SLACK)
        return [it for it in found if self._is_here(it)]

    def _is_here(self, event: Component) -> bool:
        start, end = self._span(event)
        return start < self._to_at and (end > self._from_at or (start == end == self._from_at))

    def _was_here(self, event: Component) -> bool:
        """Whether the series had an instance within the window of time before it was moved."""
        return self._from_at <= self._aware(event["RECURRENCE-ID"].dt) < self._to_at

    def _span(self, event: Component) -> tuple[datetime, datetime]:
        start = event["DTSTART"].dt
        end = event["DTEND"].dt if "DTEND" in event else start + event["DURATION"].dt if "DURATION" in event else None
        if end is None:
            end = start if isinstance(start, datetime) else start + timedelta(days=1)
        first, last = self._aware(start), self._aware(end)
        return first, max(first, last)

    def _aware(self, at: date) -> datetime:
        """In the zone to show; days begin there, and times without a zone are meant in that of the calendar."""
        if not isinstance(at, datetime):
            return datetime.combine(at, time(), tzinfo=self._zone)
        return (at if at.tzinfo is not None else at.replace(tzinfo=self._own_zone)).astimezone(self._zone)

    def _key(self, event: Component) -> tuple[str, datetime]:
        return str(event.get("UID", "")), self._aware(event["RECURRENCE-ID"].dt).astimezone(UTC)

    def _make_all(self, occurrences: list[Component], overrides: list[Component]) -> Iterator[CalendarEntry]:
        # The start tells an instance from those after it that are moved with it: the library gives all of them its key.
        moved = {(self._key(it), self._span(it)[0]) for it in overrides}
        for event in occurrences:
            key, (start, _) = self._key(event), self._span(event)
            is_moved = (key, start) in moved and key[1] != start.astimezone(UTC)
            yield self._make(event, moved_from=key[1].astimezone(self._zone) if is_moved else None)

    def _make_away(self, overrides: list[Component]) -> Iterator[CalendarEntry]:
        for event in overrides:
            original = self._key(event)[1].astimezone(self._zone)
            yield self._make(event, moved_from=original, is_away=True)

    def _make(self, event: Component, *, moved_from: datetime | None, is_away: bool = False) -> CalendarEntry:
        start, end = self._span(event)
        return CalendarEntry(
            start=start,
            end=end,
            is_all_day=not isinstance(event["DTSTART"].dt, datetime),
            title=_text(event.get("SUMMARY")),
            place=_text(event.get("LOCATION")),
            description=_text(event.get("DESCRIPTION")),
            status=_text(event.get("STATUS")).strip().upper(),
            moved_from=moved_from,
            created_at=_find_time(event, "CREATED"),
            changed_at=_find_time(event, "LAST-MODIFIED")
            or (_find_time(event, "DTSTAMP") if self._stamps_tell else None),
            is_away=is_away,
        )


def _has_times(event: Component) -> bool:
    """Whether an event has one beginning, at most one end, and nothing about its times that could not be read."""
    once = [event.get(name) for name in ("DTSTART", "DTEND", "DURATION", "RECURRENCE-ID")]
    if any(isinstance(it, list) for it in once) or any(name in _TIMING for name, _ in event.errors):
        return False
    start, end, _, original = once
    return start is not None and all(isinstance(it.dt, date) for it in (start, end, original) if it is not None)


def _find_uid(event: Component) -> str:
    """What identifies an event; one without a UID is different from all others."""
    return str(event.get("UID", id(event)))


def _moves_later(event: Component) -> bool:
    """Whether an instance of a series is changed with all those after it."""
    return "RECURRENCE-ID" in event and event["RECURRENCE-ID"].params.get("RANGE") == "THISANDFUTURE"


def _find_revision(event: Component) -> tuple[int, datetime]:
    """What is higher for a newer revision of an event: its sequence, then its last change."""
    changed_at = _find_time(event, "LAST-MODIFIED") or _find_time(event, "DTSTAMP")
    return event.get("SEQUENCE", 0), changed_at or datetime.min.replace(tzinfo=UTC)


def _text(value: object) -> str:
    """A property's text, the first one where it is there more than once."""
    return str((value[0] if value else "") if isinstance(value, list) else "" if value is None else value)


def _find_time(event: Component, name: str) -> datetime | None:
    try:
        at = event[name].dt
        return at.astimezone(UTC) if isinstance(at, datetime) and at.tzinfo is not None else None
    except _FAULTS:
        return None


def _stamps_tell(calendar: Component) -> bool:
    """Whether DTSTAMP says when an event was changed.

    With a METHOD it is the time at which the calendar was sent, and some servers stamp all events when asked.

    Source: RFC 5545, 3.8.7.2.
    """
    stamps = [_find_time(event, "DTSTAMP") for event in calendar.walk("VEVENT")]
    return "METHOD" not in calendar and (len(stamps) == 1 or len(set(stamps)) > 1)
