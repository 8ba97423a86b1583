"""The parts of a window come to the window, whatever is in it."""

import pytest
from bench.material.demo import demo_log
from bench.material.logs import LogEntry, coding_log

import everfold
from everfold.core.windows.parts import list_parts, show_text

LOGS = {"demo": list(demo_log().entries[:150]), "coding": list(coding_log(5, turns_count=6))}


@pytest.mark.parametrize("name", LOGS)
async def test_parts_cost_what_the_window_costs(name: str) -> None:
    """At every point of a log, before and after compactions, the parts sum to the report, and so do cached first ones."""
    log: list[LogEntry] = LOGS[name]
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=5000, system="You help.", tools=[{"name": "look_up"}])
        await session.append({"role": "system", "content": "Be kind."})
        for entry in log:
            await session.append(entry.wire)
            window = await session.window(suffix="It is Monday.")
            parts = list_parts(window)
            assert sum(part.tokens for part in parts) == window.report.tokens
            cached = [part.is_cached for part in parts]
            assert cached == sorted(cached, reverse=True)
            assert not cached[-1]
        assert (await session.inspect.state()).compactions_count > 0


async def test_a_message_is_shown_in_its_visible_form() -> None:
    """Where a message is cut in the window its part says so and where it can be read; a short one is shown whole."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=6000)
        text = "".join(f"line {n}\n" for n in range(4000))
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "write", "arguments": f'{{"text": "{"x" * 40000}"}}'},
        }
        await session.append(
            [
                {"role": "user", "content": text},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "short"},
            ]
        )
        said, called, answered = await session.messages(1, 3)
        assert "history: message 1" in show_text(said)
        assert len(show_text(said)) < len(text)
        assert show_text(called).startswith("write ")
        assert len(show_text(called)) < 40_000
        assert show_text(answered) == "short"
