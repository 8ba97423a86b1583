from collections.abc import Sequence

from everfold.core.primitives.stepwise import Steps, finish, finishing, map_stepwise


def _count_pauses(steps: Steps[object]) -> int:
    return sum(1 for _ in steps)


def test_a_slice_ends_with_a_pause() -> None:
    """Between every so many items there is one pause, and none where all are within one slice."""
    assert [_count_pauses(map_stepwise(str, range(count), count=10)) for count in (0, 10, 11, 30, 31)] == [
        0,
        0,
        1,
        2,
        3,
    ]


def test_pauses_change_nothing() -> None:
    """What a slice gives stands in the order of the items, and the computation without pauses gives the same."""

    def list_signs(items: Sequence[int]) -> Steps[list[str]]:
        """The numbers as text."""
        return (yield from map_stepwise(str, items, count=3))

    assert finish(list_signs(range(20))) == finishing(list_signs)(range(20)) == [str(number) for number in range(20)]
    assert finishing(list_signs).__doc__ == list_signs.__doc__
