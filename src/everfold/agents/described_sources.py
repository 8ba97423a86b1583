"""The context sources that the settings describe, and asking one of them."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from everfold.bootstrap import open_source
from everfold.config import Settings
from everfold.core.log.budget import share_budget
from everfold.core.log.calibration import Calibration
from everfold.core.sources.refreshing import Question, find_cap, share_cap
from everfold.errors import InvalidInputError, NotFoundError
from everfold.sections import ContextSourceSettings
from everfold.services.compaction.try_source import Tried, try_source


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSource:
    """A source of the settings.

    Attributes:
        name: Its name in the settings.
        kind: One of the kinds of `[sources.NAME]`, or `hand`.
        source: What its fence says; empty where its settings do not fit.
        problem: What does not fit.
        is_allowed: Whether a refresh asks it.
    """

    name: str
    kind: str
    source: str
    is_allowed: bool
    prompt: str = ""
    problem: str = ""


def list_sources(settings: Settings) -> Iterator[ListedSource]:
    """The allowed sources in the order in which they are asked, then those that are only configured."""
    for entry in settings.compaction.context_sources:
        yield _list_allowed(settings, entry)
    allowed = {entry.source for entry in settings.compaction.context_sources}
    for name in settings.sources:
        if name not in allowed:
            yield _list_source(settings, name, is_allowed=False)


def _list_allowed(settings: Settings, entry: ContextSourceSettings) -> ListedSource:
    if entry.source is not None:
        return _list_source(settings, entry.source, is_allowed=True, prompt=entry.prompt)
    return ListedSource(
        name=str(entry.hand), kind="hand", source=f"hand://{entry.hand}", is_allowed=True, prompt=entry.prompt
    )


def _list_source(settings: Settings, name: str, *, is_allowed: bool, prompt: str = "") -> ListedSource:
    source = problem = ""
    try:
        source = open_source(name, settings.sources[name]).name
    except InvalidInputError as error:
        problem = str(error)
    return ListedSource(
        name=name,
        kind=settings.sources[name].kind,
        source=source,
        is_allowed=is_allowed,
        prompt=prompt,
        problem=problem,
    )


async def ask_source(
    settings: Settings, name: str, *, from_at: datetime, now: datetime, budget_tokens: int | None = None
) -> Tried:
    """Ask one source of the settings now, allowed or not, and give what a model would see of it. Nothing is stored.

    Args:
        settings: Where it is described.
        name: Its name in `[sources.NAME]`.
        from_at: From when on it is asked; the moment itself when that is still to come.
        now: The moment.
        budget_tokens: How long its answer may be; its share when left out.

    Raises:
        NotFoundError: there is none with this name; names the nearest.
        InvalidInputError: its settings do not fit.
        SourceError: it has no answer to give, or could not be reached in time.
    """
    source = open_source(name, settings.sources[_find_name(settings, name)])
    question = Question(
        source=source.name,
        prompt=_find_prompt(settings, name),
        from_at=min(from_at, now),
        to_at=now,
        budget_tokens=budget_tokens or _find_share(settings, name),
    )
    return await try_source(source, question, at=now, timeout_secs=settings.compaction.source_timeout_secs)


def _find_name(settings: Settings, name: str) -> str:
    """The name, where the settings have it.

    Raises:
        NotFoundError: they do not; names the nearest that they have.
    """
    if name in settings.sources:
        return name
    if name in {entry.hand for entry in settings.compaction.context_sources}:
        raise NotFoundError(
            f"{name!r} is a hand, not a [sources.NAME]; `everfold refresh` asks it with the others", source=name
        )
    near = difflib.get_close_matches(name, list(settings.sources), n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`everfold sources list` lists those that there are"
    raise NotFoundError(f"there is no source {name!r}; {hint}", source=name)


def _find_prompt(settings: Settings, name: str) -> str:
    return next((entry.prompt for entry in settings.compaction.context_sources if entry.source == name), "")


def _find_share(settings: Settings, name: str) -> int:
    """What one source may say in a new session, were it and all the allowed ones asked."""
    compaction, session = settings.compaction, settings.session_settings()
    budget = share_budget(session.limit_tokens, session.policy, calibration=Calibration())
    cap_tokens = find_cap(compaction.context_token_cap, budget)
    asked = {entry.source or f"hand {entry.hand}" for entry in compaction.context_sources} | {name}
    return share_cap(cap_tokens, compaction.source_floor_tokens, len(asked))
