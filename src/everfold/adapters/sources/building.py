"""Building a source from its settings. A kind's own packages are loaded when the source is first asked, not before."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Final

from everfold.adapters.sources.source_settings import name_nearest, read_settings
from everfold.errors import InvalidInputError
from everfold.ports.sources import ContextSource

Environ = Mapping[str, str] | None


def build_source(settings: Mapping[str, object], *, environ: Mapping[str, str] | None = None) -> ContextSource:
    """The source with these settings; nothing is read, loaded or reached yet.

    Args:
        settings: `kind` is one of `KINDS`; the other keys are the fields of that kind's settings, `name` among them.
        environ: Where secrets are looked up when the source is asked; the process's own environment when None.

    Raises:
        InvalidInputError: a kind or key is unknown (the nearest known one is named), a value does not fit, or the
            extra `sources` is missing.
    """
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in _BUILDERS:
        raise InvalidInputError(f"the kind of source {str(kind)[:80]!r} is unknown{name_nearest(str(kind), KINDS)}")
    packages, build = _BUILDERS[kind]
    if any(find_spec(package) is None for package in packages):
        raise InvalidInputError(
            f"a source of the kind {kind} needs the extra `sources`: pip install 'everfold[sources]'"
        )
    return build({key: value for key, value in settings.items() if key != "kind"}, environ)


def _build_calendar(settings: Mapping[str, object], environ: Environ) -> ContextSource:
    from everfold.adapters.sources.calendar import CalendarSettings, CalendarSource

    return CalendarSource(read_settings(CalendarSettings, settings, what="a calendar source"), environ)


def _build_mailbox(settings: Mapping[str, object], environ: Environ) -> ContextSource:
    from everfold.adapters.sources.mailbox import MailboxSettings, MailboxSource

    return MailboxSource(read_settings(MailboxSettings, settings, what="a mailbox source"), environ)


def _build_http(settings: Mapping[str, object], environ: Environ) -> ContextSource:
    from everfold.adapters.sources.http import HttpSettings, HttpSource

    return HttpSource(read_settings(HttpSettings, settings, what="an http source"), environ)


def _build_callable(settings: Mapping[str, object], environ: Environ) -> ContextSource:  # noqa: ARG001  # as the others
    from everfold.adapters.sources.callable import CallableSettings, CallableSource

    return CallableSource(read_settings(CallableSettings, settings, what="a callable source"))


_BUILDERS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, object], Environ], ContextSource]]]] = {
    "calendar": (("icalendar", "recurring_ical_events", "httpx2"), _build_calendar),
    "mailbox": (("imap_tools",), _build_mailbox),
    "http": (("httpx2",), _build_http),
    "callable": ((), _build_callable),
}

KINDS: Final = tuple(_BUILDERS)
"""What a source may be; hands are of another kind and are made elsewhere."""
