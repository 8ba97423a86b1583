"""Settings as they may be shown: addresses without their users, passwords and parameters, values without secrets.

More is hidden than must be: all of what stands before an `@`, and the value of every parameter, since any name may stand
for a token. Host and path stay, so that it can be seen where an address leads.

Source: RFC 3986, 3.2.1 (user information), 3.4 (query) and 3.5 (fragment).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from everfold.core.threats.redaction import redact_secrets

HIDDEN: Final = "***"
_ADDRESS: Final = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?P<rest>[^\s/]\S*)")
_PARAMETER: Final = re.compile(r"(?P<name>[^=&;?#]*=)?[^&;?#]+")
_SECRET_NAME: Final = re.compile(r"key|token|secret|passw|credential|auth|bearer|cookie|signature", re.IGNORECASE)


def hide_in_addresses(text: str) -> str:
    """A text in which no address has a user, a password, or the value of a parameter. O(length)."""
    return _ADDRESS.sub(_hide_address, text) if "://" in text else text


def hide_secrets(value: object, name: str = "") -> object:
    """A value of the settings as it may be shown; tables and lists entry by entry.

    Args:
        value: Texts, numbers, None, mappings and sequences of them.
        name: The name that it has: of a `token` or `api_key_env` every value that looks like a secret is hidden.
    """
    if isinstance(value, str):
        return _hide_text(value, name)
    if isinstance(value, Mapping):
        return {key: hide_secrets(one, str(key)) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        names = [name, *(one if isinstance(one, str) and one.startswith("-") else name for one in value)]
        hidden = [hide_secrets(one, before) for one, before in zip(value, names, strict=False)]
        return tuple(hidden) if isinstance(value, tuple) else hidden
    return value


def _hide_text(text: str, name: str) -> str:
    if name.startswith("-") and _SECRET_NAME.search(name):
        return HIDDEN  # what follows `--token` in a command
    if text.startswith("-") and "=" in text and _SECRET_NAME.search(text.partition("=")[0]):
        return f"{text.partition('=')[0]}={HIDDEN}"
    hidden = redact_secrets(hide_in_addresses(text))
    is_secret = _SECRET_NAME.search(name) and redact_secrets(f"token {hidden}") != f"token {hidden}"
    return HIDDEN if is_secret else hidden


def _hide_address(found: re.Match[str]) -> str:
    user, at, place = found["rest"].rpartition("@")
    end = min((index for mark in "?#" if (index := place.find(mark)) >= 0), default=len(place))
    shown = f"{found['scheme']}{HIDDEN}@" if at and user else found["scheme"]
    return f"{shown}{place[:end]}{_PARAMETER.sub(_hide_parameter, place[end:])}"


def _hide_parameter(found: re.Match[str]) -> str:
    return f"{found['name'] or ''}{HIDDEN}"
