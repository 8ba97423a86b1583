"""A schema shows what it names of a value, under the names of the API, and fails when it is declared wrongly."""

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal

import pytest

from everfold.server.schemas.schema import many, project, wrap


@dataclass(frozen=True)
class Berth:
    """A place for a boat; None where it is free.

    Attributes:
        number: Counted from the pier, None
            for none; see `Harbour`.
    """

    number: int | None
    secret: str = "of the harbour"


@dataclass(frozen=True)
class Boat:
    """A boat."""

    boat_id: str
    berth: Berth
    others: tuple[Berth, ...]
    seen_at: datetime
    kind: Literal["sail", "motor"] = "sail"

    @property
    def is_far(self) -> bool:
        """It lies outside.

        Not told.
        """
        return self.berth.number is None


BERTH = project("Berth", Berth, "number")
BOAT = project(
    "Boat",
    Boat,
    "id=boat_id place=berth.number berth others seen_at kind is_far length",
    words={"id": "Painted on it."},
    berth=BERTH,
    others=BERTH,
    length=(int, lambda boat: len(boat.boat_id), "In characters."),
)
SEEN_AT = datetime(2031, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
KESTREL = Boat("Kestrel", Berth(3), (Berth(4), Berth(None)), SEEN_AT)


def test_a_value_is_shown_as_it_is_declared() -> None:
    """Fields come in the order of the declaration, renamed, from parts, and made; what is not named is not shown."""
    shown = BOAT.model_validate(KESTREL).model_dump(mode="json")
    assert list(shown.items()) == [
        ("id", "Kestrel"),
        ("place", 3),
        ("berth", {"number": 3}),
        ("others", [{"number": 4}, {"number": None}]),
        ("seen_at", "2031-05-01T10:00:00Z"),
        ("kind", "sail"),
        ("is_far", False),
        ("length", 7),
    ]


def test_a_schema_of_more_begins_with_its_base() -> None:
    """The fields of a base come first, read from the part that a path leads to."""
    detail = project("BoatDetail", Boat, "boat_id", base=BERTH, at="berth")
    assert detail.model_validate(KESTREL).model_dump() == {"number": 3, "boat_id": "Kestrel"}


def test_a_mapping_is_shown_part_by_part() -> None:
    """What a route gives as a mapping has each part shown by the schema of its field."""
    fleet = wrap("Fleet", "All boats.", boats=many(BOAT), count=(int, "How many."))
    shown = fleet.model_validate({"boats": [KESTREL], "count": 1}).model_dump(mode="json")
    assert shown["boats"][0]["id"] == "Kestrel"
    assert shown["count"] == 1


def test_descriptions_come_from_the_class() -> None:
    """A field is described as its class, its property or the declaration says it, in words of JSON."""
    described = {name: one.get("description") for name, one in BOAT.model_json_schema()["properties"].items()}
    assert BERTH.model_json_schema()["description"] == "A place for a boat; null where it is free."
    assert BERTH.model_json_schema()["properties"]["number"]["description"] == "Counted from the pier, null for none."
    assert (described["id"], described["is_far"], described["length"]) == (
        "Painted on it.",
        "It lies outside.",
        "In characters.",
    )


def test_a_field_that_the_class_has_not_is_refused() -> None:
    """A name that is misspelt, or went with a change of the class, fails when the schema is declared."""
    with pytest.raises(TypeError, match="Berth has no nubmer"):
        project("Berth", Berth, "nubmer")


def test_a_part_without_a_schema_is_refused() -> None:
    """No class of the engine is shown whole because a schema was forgotten."""
    with pytest.raises(TypeError, match="is shown by a schema: give it"):
        project("Boat", Boat, "boat_id others")


def test_what_is_described_is_shown() -> None:
    """Words and made fields of a name that is not shown are refused."""
    with pytest.raises(TypeError, match="Boat shows no id, length"):
        project("Boat", Boat, "boat_id", words={"id": "Its name."}, length=(int, lambda _: 1, ""))
