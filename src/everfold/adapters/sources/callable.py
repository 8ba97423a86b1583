"""A Python function as a source."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib import import_module
from typing import Final

from everfold.adapters.sources.own_threads import OwnThreads
from everfold.adapters.sources.source_settings import check_name
from everfold.core.sources.source_texts import clean_line, clean_text, fit_lines
from everfold.core.threats.redaction import redact_secrets
from everfold.errors import InvalidInputError, SourceError

_SHOWN_CHARS: Final = 200
Summarise = Callable[..., object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableSettings:
    """Which function to ask.

    Attributes:
        name: The source is `call://NAME`.
        function: Its import path, `package.module:function`. It takes what `ContextSource.summary` takes and gives a
            text, or None where nothing happened; plain or async. It may be asked several times at once.
    """

    name: str
    function: str

    def __post_init__(self) -> None:
        what = f"the callable source {self.name!r}"
        check_name(self.name, what=what)
        module, _, function = self.function.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
            raise InvalidInputError(f"{what}: {self.function!r} is not an import path like package.module:function")


class CallableSource:
    """See `everfold.ports.sources.ContextSource`. The function is imported when it is first asked.

    A plain function runs on a thread of its own, so that it may block; an async one on the event loop.
    """

    def __init__(self, settings: CallableSettings) -> None:
        self._settings = settings
        self._threads = OwnThreads(self.name)
        self._function: Summarise | None = None

    @property
    def name(self) -> str:
        """See the port."""
        return f"call://{self._settings.name}"

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:
        """See the port."""
        if self._function is None:
            self._function = await self._threads.run(self._load)
        ask = partial(self._function, prompt, from_at=from_at, to_at=to_at, budget_tokens=budget_tokens)
        is_async = inspect.iscoroutinefunction(self._function)
        try:
            answer = ask() if is_async else await self._threads.run(ask)
            if isinstance(answer, Awaitable):
                answer = await answer
        except SourceError:
            raise
        except (Exception, SystemExit) as error:  # a function that ends the program ends only itself
            raise self._fail(f"raised {_say(error)}", "mend it") from error
        if not isinstance(answer, str | None):
            raise self._fail(f"gave a {type(answer).__name__}", "let it give a text, or None where nothing happened")
        return fit_lines(clean_text(answer or ""), budget_tokens)

    async def close(self) -> None:
        """See the port; there is nothing to let go of."""

    def _load(self) -> Summarise:
        module, _, path = self._settings.function.partition(":")
        try:
            found: object = import_module(module)
            for name in path.split("."):
                found = getattr(found, name)
        except (Exception, SystemExit) as error:
            raise self._fail(f"cannot be imported: {_say(error)}", "check the path and where Python looks") from error
        if not callable(found):
            raise self._fail(f"is a {type(found).__name__}", "name one that can be called")
        return found

    def _fail(self, what: str, to_do: str) -> SourceError:
        return SourceError(
            f"the function {self._settings.function} of the source {self.name} {what}; {to_do}", source=self.name
        )


def _say(error: BaseException) -> str:
    return clean_line(redact_secrets(f"{type(error).__name__}: {error}"), most_chars=_SHOWN_CHARS)
