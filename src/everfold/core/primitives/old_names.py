"""Arguments that were renamed: the old name is refused with the new one."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from everfold.errors import InvalidInputError

P = ParamSpec("P")
R = TypeVar("R")


def refuse_old_names(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a function refuse arguments by their old names, each given with its new one.

    Raises:
        InvalidInputError: when the function is called, an argument has an old name.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def check_names(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in new_names.keys() & kwargs.keys():
                raise InvalidInputError(f"{function.__name__}: the argument `{old}` is now `{new_names[old]}`")
            return function(*args, **kwargs)

        return check_names

    return decorate
