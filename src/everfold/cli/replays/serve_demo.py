"""`everfold demo --serve`: the demo in the dashboard."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everfold.cli.opening.serving import Serving, Start, link_with_key, run_server
from everfold.cli.tables.output import print_json, say, show_progress, write_text
from everfold.demo.loading import AGENT, AGENT_SETTINGS, LONG_USER, load_demo, require_unloaded
from everfold.errors import ConflictError

if TYPE_CHECKING:
    from everfold.server.runtime import Runtime

_FILES: Final = {"settings": "everfold.toml", "store": "everfold.db"}
_SETTINGS: Final = f"""\
# Settings of the demo. To chat in it, add a model: model = "openai:gpt-5-mini", or another; see docs/how-to/use-a-model.md.
[agents.{AGENT}]
context_limit = {AGENT_SETTINGS["context_limit"]}
instructions = "{AGENT_SETTINGS["instructions"]}"
memory_system = "{AGENT_SETTINGS["memory_system"]}"
"""


def serve_demo(folder: Path, *, port: int | None, opens_browser: bool, as_json: bool) -> None:
    """Serve the demo from a folder until it is stopped. A folder that was served before goes on as it was left."""
    config = folder / _FILES["settings"]
    if not config.exists():
        write_text(config, _SETTINGS)

    def tell(address: str, start: Start) -> None:
        if as_json:
            print_json({"address": address, "api_key": start.secret})
            return
        link = link_with_key(address, str(start.secret), to=start.page)
        say(f"the dashboard, signed in: {link}", is_whole=True)
        say(f"Its files are in {folder}. Ctrl-C stops it; the same command starts it again.")
        if opens_browser and _has_screen():
            webbrowser.open(link)

    run_server(Serving(url=f"sqlite:///{folder / _FILES['store']}", config=config, port=port), tell, prepare=_prepare)


async def _prepare(runtime: "Runtime") -> Start:
    """Load the demo where it is missing, and make an API key for this start."""
    try:
        await require_unloaded(runtime.engine)
    except ConflictError:
        pass
    else:
        with show_progress("loading the demo", None) as advance:
            async for step in load_demo(runtime.engine, now=runtime.clock.now()):
                advance(step.stored_count, f"of {step.messages_count} messages")
    made = await runtime.engine.admin.api_keys.make(f"demo {runtime.ids.new_id('')[-8:]}", "admin")
    sessions = await runtime.engine.list_sessions(user=LONG_USER, limit=1)
    return Start(secret=made.secret, page=f"sessions/{sessions[0].id}" if sessions else "sessions")


def _has_screen() -> bool:
    """Whether a browser with a window can be opened; one in the terminal would take it over."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
