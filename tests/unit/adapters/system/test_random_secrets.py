"""Secrets from randomness."""

import re

from everfold.adapters.system.random_secrets import RandomSecrets
from everfold.core.access.api_keys import SECRET_CHARS, SECRET_PREFIX
from everfold.ports.system import Secrets


def test_secrets_have_their_form_and_never_meet() -> None:
    """Each of many secrets is the prefix and 43 characters that stand in a header unquoted, and is like no other."""
    secrets: Secrets = RandomSecrets()
    made = [secrets.new_secret() for _ in range(1000)]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(rf"{SECRET_PREFIX}[A-Za-z0-9_-]{{{SECRET_CHARS}}}", it) for it in made)


def test_every_place_of_a_secret_is_random() -> None:
    """Over a thousand secrets each place but the last, which holds four bits, takes nearly all 64 characters."""
    secrets = RandomSecrets()
    places = list(zip(*(secrets.new_secret()[len(SECRET_PREFIX) :] for _ in range(1000)), strict=True))
    assert [len(set(place)) > 55 for place in places[:-1]] == [True] * (SECRET_CHARS - 1)
    assert len(set(places[-1])) == 16
