"""Secrets from the machine's randomness."""

import secrets

from everfold.core.access.api_keys import SECRET_BYTES, SECRET_PREFIX


class RandomSecrets:
    """Makes secrets that cannot be guessed; see `everfold.ports.system.Secrets`.

    Source: Python's documentation of `secrets`, whose generator is the system's own.
    """

    def new_secret(self) -> str:
        """A new secret: the prefix, and 43 characters."""
        return SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
