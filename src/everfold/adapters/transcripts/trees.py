"""Messages that form a tree, as chat apps keep them where prompts were edited or answers were asked for again."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import number_names, refuse
from everfold.core.log.transcripts import Conversation


def read_each(
    rows: Sequence[Row], name: str, read_row: Callable[[Row, str], Iterable[Conversation]]
) -> tuple[Conversation, ...]:
    """The conversations of rows that hold one each, and its branches."""
    names = number_names(name, len(rows))
    return tuple(found for row, own in zip(rows, names, strict=True) for found in read_row(row, own))


def list_paths(parents: Mapping[str, str | None], current: str | None, *, line: int) -> list[list[str]]:
    """The paths from a root to each leaf, the one to the current leaf first, the others in the order of the file.

    Args:
        parents: The parent of each node, in the order of the file; None, or a node that is not there, for a root.
        current: The leaf that the app showed; the last leaf of the file where it is None or unknown.
        line: The line that is refused where the nodes form a circle.

    Raises:
        InvalidInputError: a node is its own ancestor.
    """
    with_children = set(parents.values())
    leaves = [node for node in parents if node not in with_children]
    if not leaves and parents:
        refuse(line, "its messages form a circle")
    first = current if current in parents else leaves[-1] if leaves else None
    others = [leaf for leaf in leaves if leaf != first]
    return [_climb(parents, leaf, line) for leaf in ([] if first is None else [first, *others])]


def _climb(parents: Mapping[str, str | None], leaf: str, line: int) -> list[str]:
    path: list[str] = []
    seen: set[str] = set()
    node: str | None = leaf
    while node is not None and node in parents:
        if node in seen:
            refuse(line, "its messages form a circle")
        seen.add(node)
        path.append(node)
        node = parents[node]
    return path[::-1]


def title_paths(title: str, paths: Sequence[object]) -> list[str | None]:
    """The title of each path, as `name_paths` names them; None for each where the conversation has none."""
    return [*name_paths(title, paths)] if title else [None] * len(paths)


def name_paths(name: str, paths: Sequence[object]) -> list[str]:
    """The name of each path: that of the conversation, and with a number for each further branch."""
    return [name if number == 1 else f"{name} (branch {number})" for number in range(1, len(paths) + 1)]
