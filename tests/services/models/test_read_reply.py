"""A reply is checked before its first use: a model is another program."""

from dataclasses import replace

import pytest

from everfold.core.primitives.ids import CompactionId
from everfold.errors import ModelReplyError
from everfold.ports.models import ModelReply
from everfold.services.models.read_reply import read_reply

GOOD = ModelReply(text="Fine.", finish="complete", model="m-2")
EVENT = CompactionId("evt_1")


@pytest.mark.parametrize(
    "given", [None, "Fine.", b"Fine.", 7, {"text": "Fine."}, object()], ids=lambda given: type(given).__name__
)
def test_what_is_no_reply_is_refused(given: object) -> None:
    """An object of another type is refused; the error names what came, for which compaction, and what was expected."""
    name = type(given).__name__
    with pytest.raises(ModelReplyError, match=rf"for compaction evt_1: .* {name}, expected a ModelReply") as caught:
        read_reply(given, model="m", compaction_id=EVENT)
    assert caught.value.ids == {"model": "m", "compaction": "evt_1"}
    assert "Fine" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("text", value) for value in (None, b"Fine.", 7, ["Fine."])),
        *(("finish", value) for value in (None, "stop", ["complete"])),
        *(("model", value) for value in (None, 7, "m\ud800", "m\0")),
        *(("input_tokens", value) for value in (None, "7", -1, 1.5, 2**63)),
        *(("cached_tokens", value) for value in (None, -1)),
        *(("output_tokens", value) for value in (None, -1)),
        *(("cost_usd", value) for value in ("0.1", -0.1, float("nan"), float("inf"))),
    ],
)
def test_each_field_is_what_it_must_be(name: str, value: object) -> None:
    """A field that the port does not allow is refused by its name and the type of what came."""
    with pytest.raises(ModelReplyError, match=f"the {name} of the reply is an unfit {type(value).__name__}"):
        read_reply(replace(GOOD, **{name: value}), model="m", compaction_id=None)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("cost_usd", [None, 0, 0.25])
def test_a_reply_passes_as_it_is(cost_usd: float | None) -> None:
    """A reply whose fields are what they must be is given back itself."""
    reply = replace(GOOD, cost_usd=cost_usd)
    assert read_reply(reply, model="m", compaction_id=EVENT) is reply
