"""An HTTP endpoint that answers with text or JSON."""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from everfold.adapters.sources.environment import fill_references, read_variable
from everfold.adapters.sources.fetching import Fetch, Fetched, fetch
from everfold.adapters.sources.html_text import read_html
from everfold.adapters.sources.source_settings import as_web, check_above_zero, check_name, check_url
from everfold.core.sources.source_texts import clean_text, fit_lines, render_json
from everfold.errors import InvalidInputError, SourceError

_ACCEPT: Final = "text/plain, application/json;q=0.9, text/markdown;q=0.9, text/html;q=0.5, text/*;q=0.4"
_QUERY: Final = {"prompt": "{prompt}", "from": "{from}", "to": "{to}", "budget_tokens": "{budget_tokens}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Where to ask, and within which bounds.

    Attributes:
        name: The source is `http://NAME`.
        url: The address; `url_env` names a variable that holds it where it is secret. One of the two.
        headers: Sent with the request; `${NAME}` stands for a variable of the environment.
        query: Parameters to add to the address; `{prompt}`, `{from}`, `{to}` and `{budget_tokens}` are filled in, the
            times as `2026-11-22T09:00:00Z`, and `${NAME}` as in headers.
        ca_file: A file of certificates to trust beside the usual ones.
        allow_private: Follow names and redirects into private networks, too.
    """

    name: str
    url: str | None = None
    url_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=lambda: dict(_QUERY))
    timeout_secs: float = 20.0
    max_bytes: int = 262_144
    max_redirects: int = 3
    ca_file: str | None = None
    allow_private: bool = False

    def __post_init__(self) -> None:
        what = f"the http source {self.name!r}"
        check_name(self.name, what=what)
        check_address(self.url, self.url_env, what=what)
        check_above_zero(self, "timeout_secs", "max_bytes", what=what)


def check_address(url: str | None, url_env: str | None, *, what: str) -> None:
    """Refuse settings that do not have exactly one of an address and the name of a variable that holds it.

    Raises:
        InvalidInputError: both or none is there, or the address cannot be one.
    """
    if (url is None) == (url_env is None):
        raise InvalidInputError(f"{what} needs one of url and url_env")
    if url is not None:
        check_url(as_web(url), what=what)


def read_address(url: str | None, url_env: str | None, environ: Mapping[str, str], *, source: str) -> str:
    """The address to ask, from the settings or from the environment.

    Raises:
        SourceError: the variable is not set, or holds no address.
    """
    if url is not None:
        return as_web(url)
    found = as_web(read_variable(url_env or "", environ, source=source))
    try:
        check_url(found, what=f"the variable {url_env} of the source {source}")
    except InvalidInputError as error:
        raise SourceError(str(error), source=source) from None
    return found


class HttpSource:
    """See `everfold.ports.sources.ContextSource`.

    Args:
        settings: Where to ask.
        environ: Where its secrets are; the process's own environment when None.
    """

    def __init__(self, settings: HttpSettings, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environ = os.environ if environ is None else environ

    @property
    def name(self) -> str:
        """See the port."""
        return f"http://{self._settings.name}"

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:
        """See the port. Everything of the question goes to the server, by the query of the settings."""
        values = {
            "{prompt}": prompt,
            "{from}": _name_utc(from_at),
            "{to}": _name_utc(to_at),
            "{budget_tokens}": str(budget_tokens),
        }
        fetched = await fetch(self._plan(values))
        # A large answer takes a while to read, and the event loop is everybody's.
        text = await asyncio.to_thread(read_answer, fetched, source=self.name)
        return fit_lines(text, budget_tokens)

    async def close(self) -> None:
        """See the port; no connection outlives its question."""

    def _plan(self, values: Mapping[str, str]) -> Fetch:
        given, source = self._settings, self.name
        url = read_address(given.url, given.url_env, self._environ, source=source)
        query = {name: self._fill(template, values) for name, template in given.query.items()}
        return Fetch(
            source=source,
            url=add_query(url, query),
            headers={name: fill_references(it, self._environ, source=source) for name, it in given.headers.items()},
            accept=_ACCEPT,
            timeout_secs=given.timeout_secs,
            max_bytes=given.max_bytes,
            max_redirects=given.max_redirects,
            ca_file=given.ca_file,
            allow_private=given.allow_private,
        )

    def _fill(self, template: str, values: Mapping[str, str]) -> str:
        """A parameter's value; what is filled in is not filled again, so a prompt cannot name a variable."""
        if template in values:
            return values[template]
        filled = fill_references(template, self._environ, source=self.name)
        for mark, value in values.items():
            filled = filled.replace(mark, value)
        return filled


def add_query(url: str, query: Mapping[str, str]) -> str:
    """The address with these parameters; one of the same name that it has is replaced, and its fragment goes."""
    parts = urlsplit(url)
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in query]
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode([*kept, *query.items()]), ""))


def read_answer(fetched: Fetched, *, source: str) -> str:
    """An answer as plain lines; nothing for an empty one.

    Raises:
        SourceError: it is neither text nor JSON.
    """
    kind = fetched.media_type
    if not fetched.body.strip():
        return ""
    if kind == "application/json" or kind.endswith("+json"):
        return _read_json(fetched, source=source)
    if kind in ("text/html", "application/xhtml+xml"):
        return clean_text(read_html(fetched.decode()))
    if kind.startswith("text/"):
        return clean_text(fetched.decode())
    raise SourceError(
        f"the source {source} answers with {kind[:80] or 'content of no kind'!r}; expected text or application/json",
        source=source,
    )


def _read_json(fetched: Fetched, *, source: str) -> str:
    try:
        return render_json(json.loads(fetched.body.decode("utf-8-sig", "surrogatepass")))
    except (ValueError, RecursionError) as error:
        raise SourceError(
            f"the source {source} declares JSON but sends invalid JSON ({type(error).__name__}); correct the "
            "response or its content type",
            source=source,
        ) from error


def _name_utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
