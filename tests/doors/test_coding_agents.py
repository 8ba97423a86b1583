"""Real coding agents, headless, against a scripted provider: what their own compaction throws away comes back.

`make agents` installs them from npm, from a lock, and runs this. The provider says `Understood.` to everything, and nothing
of worth in its summaries; so an answer in a request after the compaction came from Everfold.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.doors.coding_programs import NEEDS_AGENTS, find_program
from tests.doors.summing_provider import BIG, SummingProvider

import everfold
from everfold.core.text.frames import HANDED_BEGIN
from everfold.integrations.coding_agents.connecting import connect, disconnect
from everfold.integrations.coding_agents.connection import find_path, find_state_folder

RULE = "Remember: always use port 4711 for the staging server, and never push to main without asking."
QUESTION = "Which port does the staging server use?"
FILLER = "pad words here " * 400

pytestmark = NEEDS_AGENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One coding agent, with a home of its own."""

    name: str
    home: Path
    provider: SummingProvider

    def run(self, *words: str) -> None:
        """Run it headless, once."""
        environment = {
            **os.environ,
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": self.provider.url.removesuffix("/v1"),
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }
        folder = self.home / "work"
        folder.mkdir(exist_ok=True)
        command = [find_program(self.name), *words]
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()

    def say(self, text: str, *, is_first: bool = False, compacts: bool = False) -> None:
        """One prompt; with a compaction of the client's own before it, where it is to be."""
        match self.name:
            case "claude-code":
                if compacts:
                    self.run("-p", "/compact", "--continue")
                self.run("-p", text, *([] if is_first else ["--continue"]))
            case "codex":
                limit = ["-c", "model_auto_compact_token_limit=1000"] if compacts else []
                options = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *limit]
                self.run(*options, *([] if is_first else ["resume", "--last"]), text)
            case _:
                if compacts:
                    self.run("run", "-c", f"Go on. {BIG}")
                self.run("run", *([] if is_first else ["-c"]), text)


def write_settings(home: Path, name: str, url: str) -> None:
    """What the agent needs to talk to the provider."""
    if name == "codex":
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(
            f'model = "m"\nmodel_provider = "scripted"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n\n'
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{url}"\nwire_api = "responses"\n'
        )
    if name == "opencode":
        folder = home / ".config" / "opencode"
        folder.mkdir(parents=True)
        model = {"name": "m", "limit": {"context": 50_000, "output": 1_000}}
        options = {"baseURL": url, "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "S", "options": options, "models": {"m": model}}
        settings = {"model": "s/m", "small_model": "s/m", "autoupdate": False, "provider": {"s": provider}}
        (folder / "opencode.json").write_text(json.dumps(settings))


@pytest.fixture(params=["claude-code", "codex", "opencode"])
def agent(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Agent]:
    """Each agent, in a home that nothing else uses."""
    home = tmp_path_factory.mktemp("h")
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))
    monkeypatch.setenv("PYTHONPATH", str(Path(everfold.__file__).parents[1]))
    with SummingProvider() as provider:
        write_settings(home, request.param, provider.url)
        yield Agent(name=request.param, home=home, provider=provider)
        kill_daemons(request.param)
    shutil.rmtree(home, ignore_errors=True)


def kill_daemons(client: str) -> int:
    """End the daemons of this test, and give how many there were."""
    wanted, count = str(find_path(client)).encode(), 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"everfold.integrations.coding_agents.daemon" in words and wanted in words:
            os.kill(int(path.parent.name), signal.SIGKILL)
            count += 1
    return count


def connect_agent(agent: Agent) -> str:
    """Connect it, and give the store."""
    url = f"sqlite:///{agent.home / 'store' / 'e.db'}"
    connect(agent.name, user="ada", agent=None, url=url, config=None)
    return url


async def list_said(url: str, name: str) -> list[str]:
    """What the user said, as it is stored."""
    async with everfold.open(url) as engine:
        (record,) = [one for one in await engine.list_sessions(user="ada", agent=name) if "/" not in one.session_key]
        messages = await (await engine.session(id=record.id)).messages()
        return [message.view.text for message in messages if message.kind == "user"]


async def test_what_a_compaction_threw_away_comes_back(agent: Agent) -> None:
    """After the client's own compaction, the request with the question holds the answer, from Everfold; all is stored once."""
    url = connect_agent(agent)
    agent.say(RULE, is_first=True)
    for number in range(3):
        agent.say(f"Question {number} about the harbour. {FILLER}")
    agent.say(QUESTION, compacts=True)
    request = agent.provider.find_request(QUESTION)
    handed = [text for text in request if HANDED_BEGIN in text]
    assert any("4711" in text for text in handed), handed
    said = await list_said(url, agent.name)
    assert sum(RULE in text for text in said) == 1
    assert not any(HANDED_BEGIN in text for text in said)


async def test_a_killed_daemon_holds_nothing_up(agent: Agent) -> None:
    """The client goes on while its daemon is killed between any two prompts, and nothing is lost or doubled."""
    url = connect_agent(agent)
    prompts = [f"Prompt number {number}." for number in range(4)]
    for number, prompt in enumerate(prompts):
        agent.say(prompt, is_first=number == 0)
        kill_daemons(agent.name)
    agent.say("The end.")
    agent.say("The very end.")
    said = await list_said(url, agent.name)
    assert [sum(prompt in text for text in said) for prompt in [*prompts, "The end."]] == [1, 1, 1, 1, 1]


def test_disconnect_leaves_the_clients_files_as_they_were(agent: Agent) -> None:
    """Connecting and disconnecting around real runs leaves no trace in what the user wrote."""
    own = {path: path.read_bytes() for path in agent.home.rglob("*") if path.is_file()}
    connect_agent(agent)
    disconnect(agent.name)
    after = {path: path.read_bytes() for path in agent.home.rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if find_state_folder() not in path.parents} == own
