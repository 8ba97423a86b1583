"""Opening a model: which one the settings name, whose server and key it gets, and what is loaded for it."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from everfold.adapters.models.lazy import LazyModel
from everfold.adapters.models.pydantic_ai import Place, PydanticAIModel
from everfold.bootstrap import open_caller, open_model, open_store
from everfold.config import load_settings
from everfold.errors import InvalidInputError
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
FRESH = """
import asyncio, sys
import everfold
from everfold.bootstrap import open_caller, open_store
from everfold.config import load_settings

async def main():
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": "hello"})
        await session.window()
    assert open_caller(load_settings(), await open_store("memory://"), clock=None, ids=None) is None

asyncio.run(main())
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"pydantic_ai", "openai", "anthropic", "httpx2"}))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two scripts, and a key for each provider."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(f'{{"text": "{name}"}}', "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-anthropic")
    monkeypatch.setenv("HARBOUR_KEY", "sk-harbour")
    return tmp_path


def place_of(name: str, model: Mapping[str, object] | None = None) -> Place:
    """Where the model with this name is, under settings of the section `model`."""
    opened = open_model(load_settings(overrides={"model": model or {}}), name)
    assert isinstance(opened, LazyModel)
    assert opened.name == name
    made = opened._make()
    assert isinstance(made, PydanticAIModel)
    assert made.name == name
    return made._place


def test_without_a_model_nothing_is_loaded(tmp_path: Path) -> None:
    """An engine without a model loads no library of any provider."""
    fresh = subprocess.run([sys.executable, "-c", FRESH], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (fresh.returncode, fresh.stdout.split()) == (0, []), fresh.stderr


def test_the_usual_key() -> None:
    """A provider's own server gets the key of the provider's own variable; a model of one's own machine gets none."""
    assert place_of("openai:a") == Place(provider="openai", name="a", api_key="sk-openai")
    assert place_of("anthropic:a") == Place(provider="anthropic", name="a", api_key="sk-anthropic")
    assert place_of("ollama:a:7b") == Place(provider="ollama", name="a:7b")


def test_a_named_key() -> None:
    """The key of the named variable goes to the server that is named, or to the provider's own."""
    url = "http://127.0.0.1:9/v1"
    given = {"name": "openai:a", "base_url": url, "api_key_env": "HARBOUR_KEY"}
    assert place_of("openai:a", given) == Place(provider="openai", name="a", base_url=url, api_key="sk-harbour")
    given = {"name": "anthropic:a", "api_key_env": "HARBOUR_KEY"}
    assert place_of("anthropic:a", given) == Place(provider="anthropic", name="a", api_key="sk-harbour")


def test_another_server_never_gets_the_usual_key() -> None:
    """A server of one's own gets no key that was not named for it."""
    for provider in ("openai", "anthropic", "ollama"):
        url = "http://127.0.0.1:9/v1"
        given = {"name": f"{provider}:a", "base_url": url}
        assert place_of(f"{provider}:a", given) == Place(provider=provider, name="a", base_url=url)


def test_a_model_of_another_provider_has_its_own_server() -> None:
    """Server and key of the model's provider are not for a compaction model of another one; of the same they are."""
    url = "http://127.0.0.1:9/v1"
    given = {"name": "openai:a", "base_url": url, "api_key_env": "HARBOUR_KEY"}
    assert place_of("anthropic:b", given) == Place(provider="anthropic", name="b", api_key="sk-anthropic")
    assert place_of("openai:b", given) == Place(provider="openai", name="b", base_url=url, api_key="sk-harbour")
    alone = {"base_url": url, "api_key_env": "HARBOUR_KEY"}
    assert place_of("ollama:b", alone) == Place(provider="ollama", name="b", base_url=url, api_key="sk-harbour")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_that_is_missing(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    """A model whose key is not set, or empty, is refused when it is opened, with the variable's name."""
    monkeypatch.delenv("OPENAI_API_KEY")
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(InvalidInputError, match="OPENAI_API_KEY is not set") as caught:
        place_of("openai:a")
    assert caught.value.ids == {"variable": "OPENAI_API_KEY"}


def test_an_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, a model is refused with what to install; a script needs nothing."""
    monkeypatch.setattr("everfold.bootstrap.find_spec", lambda _: None)
    with pytest.raises(InvalidInputError, match=r"everfold\[models\]"):
        place_of("openai:a")
    script = open_model(load_settings(), "script:one")
    assert script is not None
    assert script.name == "script:one"


async def test_the_compaction_model_is_the_one_that_is_called() -> None:
    """The caller has the compaction model, or the model where that is left out, and the limits of the settings."""
    store = await open_store("memory://")
    overrides: dict[str, dict[str, object]] = {
        "model": {"name": "script:one"},
        "compaction": {"model": "script:two", "summary_timeout_secs": 7, "retries": 3},
        "spend": {"per_compaction_usd": 0.5, "per_day_usd": 2},
    }
    caller = open_caller(load_settings(overrides=overrides), store, clock=FakeClock(), ids=CountingIds())
    assert caller is not None
    assert (caller.model.name, caller.timeout_secs, caller.retries) == ("script:two", 7, 3)
    assert (caller.per_compaction_usd, caller.per_day_usd) == (0.5, 2)
    del overrides["compaction"]
    caller = open_caller(load_settings(overrides=overrides), store, clock=FakeClock(), ids=CountingIds())
    assert caller is not None
    assert (caller.model.name, caller.timeout_secs, caller.retries) == ("script:one", 90, 1)
