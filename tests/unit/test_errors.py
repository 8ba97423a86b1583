"""The error tree: every branch can be told apart by programs, servers and shells, and is drawn as it is."""

import re
from collections.abc import Iterator

import pytest

from everfold import errors
from everfold.errors import BudgetUnsatisfiableError, EverfoldError, NotFoundError


def _list_classes(root: type[EverfoldError] = EverfoldError) -> Iterator[type[EverfoldError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _list_classes(child)


CLASSES = list(_list_classes())


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_says_what_it_is(cls: type[EverfoldError]) -> None:
    """Each class has a code and a docstring of its own, an error status, an exit code above 0 and a word on retrying."""
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", vars(cls)["code"])
    assert vars(cls).get("__doc__")
    assert 400 <= cls.http_status <= 599
    assert 1 <= cls.exit_code <= 125
    assert isinstance(cls.retryable, bool)


def test_codes_are_unique() -> None:
    """A code names one class."""
    codes = [cls.code for cls in CLASSES]
    assert sorted(set(codes)) == sorted(codes)


def test_names_follow_one_rule() -> None:
    """Every name ends in Error, so that a reader knows one when it is raised."""
    assert [cls.__name__ for cls in CLASSES if not cls.__name__.endswith("Error")] == []


def _read_drawn_tree() -> dict[str, tuple[str, int | None]]:
    """Each drawn class with its parent and the status beside it."""
    drawn: dict[str, tuple[str, int | None]] = {"EverfoldError": ("Exception", None)}
    parents = ["EverfoldError"]
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r" {4}((?:│   |    )*)[├└]── (\w+)(?: +([45]\d\d)\b)?", line):
            depth = len(found[1]) // 4
            parents[depth + 1 :] = [found[2]]
            drawn[found[2]] = (parents[depth], int(found[3]) if found[3] else None)
    return drawn


def test_docstring_draws_the_tree_as_it_is() -> None:
    """The tree in the docstring has the classes, parents and order of the code."""
    actual = [(cls.__name__, (cls.__bases__[0].__name__)) for cls in CLASSES]
    assert [(name, parent) for name, (parent, _) in _read_drawn_tree().items()] == actual


def test_docstring_gives_the_statuses_as_they_are() -> None:
    """Every status drawn beside a class is the class's own, and every class without branches has one."""
    by_name = {cls.__name__: cls for cls in CLASSES}
    drawn = {name: status for name, (_, status) in _read_drawn_tree().items()}
    assert {name: by_name[name].http_status for name, status in drawn.items() if status} == {
        name: status for name, status in drawn.items() if status
    }
    assert [cls.__name__ for cls in CLASSES if not cls.__subclasses__() and not drawn[cls.__name__]] == []


def test_ids_are_attributes() -> None:
    """The ids that a message speaks of can be read without parsing the message."""
    assert NotFoundError("session s1 has no message 7; its last is 6", session="s1", seq=7).ids == {
        "session": "s1",
        "seq": 7,
    }


def test_a_limit_that_cannot_work_names_one_that_can() -> None:
    """The smallest limit that works is an attribute, and among the ids."""
    error = BudgetUnsatisfiableError("limit 900 is too small; 2500 works", smallest_limit_tokens=2500, session="s1")
    assert error.smallest_limit_tokens == 2500
    assert error.ids == {"session": "s1", "smallest_limit_tokens": 2500}
