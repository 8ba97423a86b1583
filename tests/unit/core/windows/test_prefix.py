"""The stable prefix of two requests is what a provider's cache can keep, in whole parts."""

from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.prefix import count_stable_bytes, list_parts

TEXT: JsonObject = {"type": "text", "text": "a"}


def stable_share(before: JsonObject, after: JsonObject) -> float:
    """The share of one request that the next begins with."""
    old = list_parts(before)
    return count_stable_bytes(old, list_parts(after)) / sum(map(len, old))


def test_a_request_that_grows_at_its_end_is_stable() -> None:
    """A new message, a new part of the last message and a new call leave all bytes before them stable."""
    before: JsonObject = {"messages": [{"role": "user", "content": [TEXT]}]}
    for messages in (
        [{"role": "user", "content": [TEXT]}, {"role": "assistant", "content": "b"}],
        [{"role": "user", "content": [TEXT, {"type": "text", "text": "b"}]}],
    ):
        assert stable_share(before, {"messages": messages}) == 1.0


def test_a_moved_cache_marker_changes_nothing() -> None:
    """A cache marker on a part, a system block or a tool is no part of the prefix."""
    marked: JsonObject = {**TEXT, "cache_control": {"type": "ephemeral"}}
    before: JsonObject = {"system": [marked], "messages": [{"role": "user", "content": [marked]}]}
    after: JsonObject = {"system": [TEXT], "messages": [{"role": "user", "content": [TEXT, marked]}]}
    assert stable_share(before, after) == 1.0


def test_a_change_ends_the_prefix_where_it_is() -> None:
    """Everything from the first changed part on is lost, whatever follows; a changed tool loses all."""
    messages: list[object] = [{"role": "user", "content": [TEXT]}, {"role": "assistant", "content": "bbbb"}]
    changed = [messages[0], {"role": "assistant", "content": "bbbc"}]
    share = stable_share({"messages": messages}, {"messages": changed})  # type: ignore[dict-item]
    assert 0 < share < 1
    tooled = stable_share(
        {"tools": [{"name": "a"}], "messages": messages},  # type: ignore[dict-item]
        {"tools": [{"name": "b"}], "messages": messages},  # type: ignore[dict-item]
    )
    assert tooled == 0


def test_role_and_speaker_belong_to_the_bytes() -> None:
    """The same text of another role, name or call is another part."""
    for key, value in (("role", "system"), ("name", "ilse"), ("tool_call_id", "call_2")):
        before: JsonObject = {"messages": [{"role": "user", "content": "a"}]}
        after: JsonObject = {"messages": [{"role": "user", "content": "a", key: value}]}
        assert stable_share(before, after) == 0


def test_lone_surrogates_are_counted() -> None:
    """A request that no encoder takes strictly has a prefix all the same."""
    request: JsonObject = {"messages": [{"role": "user", "content": "\ud800"}]}
    assert stable_share(request, request) == 1.0
