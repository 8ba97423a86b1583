"""What a client of the gateway holds of a session, in the document of its user."""

from typing import cast, get_args

from everfold.core.log.client_lists import ClientKind, ClientList, ClientMessage
from everfold.core.primitives.field_types import broken
from everfold.core.primitives.json_values import JsonObject, JsonValue

_HASHES = ("content", "chain", "attempt")
_NAMES = frozenset({"seq", "kind", "is_reply", "is_optional", *_HASHES})


def write_client_list(client_list: ClientList) -> JsonObject:
    """A client's list as JSON; hashes in hex."""
    return {
        "tail": _to_hex(client_list.tail),
        "messages": [
            {
                "seq": message.seq,
                "kind": message.kind,
                "is_reply": message.is_reply,
                "is_optional": message.is_optional,
                "content": _to_hex(message.content),
                "chain": _to_hex(message.chain),
                "attempt": _to_hex(message.attempt),
            }
            for message in client_list.messages
        ],
    }


def read_client_list(value: object, at: str) -> ClientList:
    """The client's list that `write_client_list` wrote; empty for None.

    Raises:
        InvalidInputError: something in it is not as it must be; says what and where.
    """
    if value is None:
        return ClientList()
    if not isinstance(value, dict) or value.keys() != {"tail", "messages"} or not isinstance(value["messages"], list):
        raise broken(at, "expected an object with a tail and a list of messages")
    messages = [_read(one, f"{at}.messages[{index}]") for index, one in enumerate(value["messages"])]
    return ClientList(messages=tuple(messages), tail=_from_hex(value["tail"], f"{at}.tail"))


def _read(value: object, at: str) -> ClientMessage:
    if not isinstance(value, dict) or value.keys() != _NAMES:
        raise broken(at, f"expected an object with {', '.join(sorted(_NAMES))}")
    seq, kind = value["seq"], value["kind"]
    if not isinstance(seq, int) or isinstance(seq, bool) or seq < 1 or kind not in get_args(ClientKind):
        raise broken(at, "expected the number of a message and a kind")
    hashes = {name: _from_hex(value[name], f"{at}.{name}") for name in _HASHES}
    return ClientMessage(
        seq=seq,
        kind=cast("ClientKind", kind),
        is_reply=value["is_reply"] is True,
        is_optional=value["is_optional"] is True,
        **hashes,
    )


def _to_hex(value: bytes | None) -> JsonValue:
    return None if value is None else value.hex()


def _from_hex(value: object, at: str) -> bytes | None:
    if value is None:
        return None
    try:
        return bytes.fromhex(cast("str", value))
    except (TypeError, ValueError) as error:
        raise broken(at, "expected a hash in hex") from error
