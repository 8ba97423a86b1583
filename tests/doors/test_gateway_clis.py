"""The coding agents of three makers work through the gateway for a long session that folds."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

pytest.importorskip("uvicorn", reason="needs the extra `server`; `make doors` installs it")

from tests.doors.coding_programs import NEEDS_AGENTS, find_program
from tests.doors.steering import STEPS_COUNT, SteeringProvider

import everfold
from everfold.session import iterate_log

LIMIT: Final = 60_000
SECS: Final = 400.0
Commands = list[list[str]]
PROMPTS: Final = ("PROMPT-1 count, please.", "PROMPT-2 go on, please.")


def set_up_claude(address: str, home: Path, work: Path) -> tuple[Commands, dict[str, str]]:
    """Claude Code, over Anthropic's messages."""
    del home, work
    ask = [find_program("claude-code"), "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"]
    settings = {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "sk-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return [[*ask, "-p", PROMPTS[0]], [*ask, "--continue", "-p", PROMPTS[1]]], settings


def set_up_codex(address: str, home: Path, work: Path) -> tuple[Commands, dict[str, str]]:
    """Codex, over the Responses API."""
    del work
    (home / "config.toml").write_text(
        'model = "gpt-5"\nmodel_provider = "everfold"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n[model_providers.everfold]\nname = "Everfold"\n'
        f'base_url = "{address}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
    )
    ask = [find_program("codex"), "exec"]
    more = ["--skip-git-repo-check"]
    settings = {"OPENAI_API_KEY": "sk-none", "CODEX_HOME": str(home)}
    return [[*ask, *more, PROMPTS[0]], [*ask, "resume", "--last", *more, PROMPTS[1]]], settings


def set_up_opencode(address: str, home: Path, work: Path) -> tuple[Commands, dict[str, str]]:
    """opencode, over chat completions."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{address}/v1", "apiKey": "sk-none"},
        "models": {"m": {"name": "M", "limit": {"context": 400_000, "output": 8_000}}},
    }
    config = {
        "provider": {"scripted": provider},
        "model": "scripted/m",
        "small_model": "scripted/m",
        "permission": "allow",
    }
    (work / "opencode.json").write_text(json.dumps(config))
    places = {f"XDG_{name}_HOME": str(home) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
    ask = [find_program("opencode"), "run"]
    return [[*ask, PROMPTS[0]], [*ask, "--continue", PROMPTS[1]]], {**places, "OPENCODE_DISABLE_AUTOUPDATE": "1"}


@contextmanager
def run_gateway(store: Path, upstream: str) -> Iterator[str]:
    """The address of a gateway in a process of its own."""
    code = "from everfold.cli.entry import run; run()"
    arguments = ["gateway", "--upstream", upstream, "--db", str(store), "--port", "0", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "EVERFOLD_GATEWAY__CONTEXT_LIMIT": str(LIMIT)},
    )
    assert process.stdout
    try:
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += process.stdout.readline()
        yield json.loads(lines)["address"]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def work_on(commands: Commands, work: Path, settings: dict[str, str]) -> None:
    """Run each command to its end, in a repository of its own."""
    subprocess.run(["git", "init", "--quiet", str(work)], check=True)
    for number, command in enumerate(commands, 1):
        done = subprocess.run(
            command,
            cwd=work,
            env=settings,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECS,
        )
        assert done.returncode == 0, done.stderr
        assert f"Done with P{number}." in done.stdout


@NEEDS_AGENTS
@pytest.mark.parametrize("set_up", [set_up_claude, set_up_codex, set_up_opencode])
async def test_a_coding_agent_works_for_a_long_session(
    tmp_path: Path, set_up: Callable[[str, Path, Path], tuple[Commands, dict[str, str]]]
) -> None:
    """Two prompts of many steps each end as they should; they are one session, which folded, and every step is in it once."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    with SteeringProvider() as provider:
        with run_gateway(tmp_path / "g.db", provider.url) as address:
            commands, settings = set_up(address, home, work)
            work_on(commands, work, {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1", **settings})
        assert provider.steps == {"P1": STEPS_COUNT, "P2": STEPS_COUNT}
    async with everfold.open(f"sqlite:///{tmp_path / 'g.db'}") as engine:
        sessions = [await engine.session(id=record.id) for record in await engine.list_sessions()]
        logs = {session.id: [message async for message in iterate_log(session)] for session in sessions}
        session = max(sessions, key=lambda one: len(logs[one.id]))
        results = [result for message in logs[session.id] for result in message.view.results]
        assert [result.call_id for result in results] == [
            f"call_{prompt}_{step}" for prompt in ("P1", "P2") for step in range(STEPS_COUNT)
        ]
        assert all(len(log) <= 3 for one, log in logs.items() if one != session.id)  # a title at most
        verification = await session.verify()
        assert verification.problems == ()
        assert verification.compactions_count >= 2
