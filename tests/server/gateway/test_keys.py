"""Whose a conversation is, and that no key of a provider is stored."""

from pathlib import Path

import pytest
from tests.server.gateway.conftest import KEY, Gateway, answered, run_gateway, say
from tests.server.gateway.played import PlayedProvider

from everfold.server.gateway.callers import hash_user

OTHER = "sk-another-secret"


def bearer(secret: str) -> dict[str, str]:
    """The header of a key."""
    return {"authorization": f"Bearer {secret}"}


def read_files(folder: Path) -> bytes:
    """All that the files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def make_key(gateway: Gateway, scope: str, *, is_read_only: bool = False) -> str:
    """The secret of a new API key of Everfold."""
    keys = gateway.engine.admin.api_keys
    return (await keys.make(f"{scope} {is_read_only}", scope, is_read_only=is_read_only)).secret


async def test_a_providers_key_passes_and_is_stored_nowhere(tmp_path: Path, provider: PlayedProvider) -> None:
    """The provider gets it as it came; the files of the store hold only its hash, which is the user."""
    async with run_gateway(tmp_path / "g.db", provider.url) as gateway:
        await gateway.ask([say("One?")])
        await gateway.ask([say("One?")], form="anthropic", headers={"x-api-key": OTHER, "authorization": ""})
        assert provider.sent[0].headers["authorization"] == f"Bearer {KEY}"
        assert provider.sent[1].headers["x-api-key"] == OTHER
        users = [session.user_id for session in await gateway.sessions()]
        assert users == [hash_user(KEY), hash_user(OTHER)]
        assert {session.agent_id for session in await gateway.sessions()} == {"gateway-anonymous"}
    stored = read_files(tmp_path)
    assert KEY.encode() not in stored
    assert OTHER.encode() not in stored


async def test_conversations_never_cross_keys(gateway: Gateway) -> None:
    """The same history under another key is another user's, and meets nothing of the first."""
    await gateway.ask([say("One?")])
    messages = [say("One?"), answered("Reply 1."), say("Two?")]
    await gateway.ask(messages, headers=bearer(OTHER))
    one, two = await gateway.sessions()
    assert one.user_id != two.user_id
    assert len(await gateway.log(one.id)) == 2
    assert len(await gateway.log(two.id)) == 4


async def test_an_api_key_of_everfold_maps_to_its_user(
    tmp_path: Path, provider: PlayedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user has the conversation, and the provider gets the key of the settings, never ours."""
    monkeypatch.setenv("PROVIDER_KEY", "sk-from-settings")
    settings = {"gateway": {"api_key_env": "PROVIDER_KEY"}}
    async with run_gateway(tmp_path / "g.db", provider.url, settings) as gateway:
        ada = await gateway.engine.add_user("ada")
        secret = await make_key(gateway, f"user:{ada.id}")
        await gateway.ask([say("One?")], headers=bearer(secret))
        await gateway.ask([say("Two?")], form="anthropic", headers={"x-api-key": secret, "authorization": ""})
        assert provider.sent[0].headers["authorization"] == "Bearer sk-from-settings"
        assert provider.sent[1].headers["x-api-key"] == "sk-from-settings"
        assert all(secret not in str(sent.headers) for sent in provider.sent)
        sessions = await gateway.sessions()
        assert [(session.user_id, session.agent_id) for session in sessions] == [(ada.id, "gateway")] * 2


async def test_an_api_key_of_everfold_beside_the_providers(gateway: Gateway, provider: PlayedProvider) -> None:
    """The provider's key passes, ours does not, and an admin's names the user."""
    secret = await make_key(gateway, "admin")
    headers = {"x-everfold-key": secret, "x-everfold-user": "ada"}
    await gateway.ask([say("One?")], headers=headers)
    assert provider.sent[0].headers["authorization"] == f"Bearer {KEY}"
    assert not any(name.startswith("x-everfold") for name in provider.sent[0].headers)
    [session] = await gateway.sessions()
    assert session.user_id == (await gateway.engine.get_user("ada")).id


async def test_a_user_of_the_settings(tmp_path: Path, provider: PlayedProvider) -> None:
    """Every conversation is that user's, whichever key of a provider it comes with."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"user": "ada"}}) as gateway:
        first = await gateway.ask([say("One?")])
        messages = [say("One?"), answered("Reply 1."), say("Two?")]
        second = await gateway.ask(messages, headers=bearer(OTHER))
        assert first.headers["x-everfold-session"] == second.headers["x-everfold-session"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer ef_nothing"}, 401),
        ({"x-everfold-key": "ef_nothing"}, 401),
        ({"x-everfold-key": "not-a-key"}, 401),
        ({"x-everfold-user": "ada"}, 403),
    ],
)
async def test_who_may_not(gateway: Gateway, provider: PlayedProvider, headers: dict[str, str], status: int) -> None:
    """A key of Everfold that is none is refused, and so is a user who is named without one; nothing reaches the provider."""
    answer = await gateway.ask([say("One?")], headers=headers)
    assert answer.status_code == status
    assert provider.sent == []


async def test_a_key_that_only_reads_stores_nothing(gateway: Gateway, provider: PlayedProvider) -> None:
    """It is refused, and so is a user's key that names another user."""
    ada = await gateway.engine.add_user("ada")
    reading = await make_key(gateway, f"user:{ada.id}", is_read_only=True)
    writing = await make_key(gateway, f"user:{ada.id}")
    for headers in (bearer(reading), {**bearer(writing), "x-everfold-user": "ben"}):
        assert (await gateway.ask([say("One?")], headers=headers)).status_code == 403
    assert provider.sent == []


@pytest.mark.parametrize("is_on", [False, True])
async def test_recall_is_a_setting_of_its_own(tmp_path: Path, provider: PlayedProvider, *, is_on: bool) -> None:
    """Whatever `recall.enabled` says, a folded message is recalled in a request only with `gateway.recall`."""
    settings = {"recall": {"enabled": not is_on}, "gateway": {"recall": is_on, "context_limit": 4000}}
    async with run_gateway(tmp_path / "g.db", provider.url, settings) as gateway:
        messages = [say("Hello.")]
        for turn in range(10):
            messages.append(answered((await gateway.ask(messages)).json()["choices"][0]["message"]["content"]))
            crates = [f"Crate {turn}{number} went to Captain Ossian {number}{turn}." for number in range(50)]
            messages.append(say(" ".join(crates)))
        messages += [answered("Noted."), say("Which captain got crate 137?")]
        await gateway.ask(messages)
        last = provider.sent[-1].body["messages"][-1]["content"]
        assert last[0]["text"] == "Which captain got crate 137?"
        assert ("recalled from memory" in str(last[1:])) is is_on
