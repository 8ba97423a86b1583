"""The hook that a coding agent runs: a program of the standard library alone, which imports nothing of Everfold.

    python -I -S hook.py CONNECTION

It reads the client's event on its input, asks the daemon on the socket that the connection file names, and prints what the
daemon has for the client's model. It starts the daemon where there is none. Whatever goes wrong, it prints nothing and ends
with 0: a client takes any other exit code as a refusal of what the user is doing.
"""

# ruff: noqa: PTH103, PTH116, PTH120, PTH123  # pathlib alone takes longer to import than all that the hook does

import fcntl
import json
import os
import socket
import sys
import time

DEADLINE_SECS = 3.0
"""So long the client waits for a hook at most, the start of the daemon included."""
PAUSE_SECS = 0.02
MOST_CHARS = 9_900
"""Longer context goes into a file of the client instead of to its model, so that none is printed."""
ANSWERED = ("UserPromptSubmit", "SessionStart", "PreCompact")
"""The events that wait for an answer. A client that is told something at its end would start again."""
SPOKEN = ("UserPromptSubmit", "SessionStart")
"""The events whose answers reach the client's model."""
FAILED = ".failed"
FAILED_SECS = 60.0
"""So long a daemon that did not start is not started again."""
RUNNING = ".running"
"""The file that a daemon holds locked from before it starts to its end, however it ends."""


def run(path: str, source: bytes) -> str:
    """What is printed for an event."""
    deadline = time.monotonic() + DEADLINE_SECS
    with open(path, encoding="utf-8") as file:
        connection = json.load(file)
    event = json.loads(source)
    name = event.get("hook_event_name")
    request = json.dumps({"connection": path, "event": event}).encode() + b"\n"
    waits = name in ANSWERED
    answer = ask(connection, request, deadline, waits=waits)
    is_started = False
    while answer is None and not is_fresh(connection["socket"] + FAILED, FAILED_SECS) and time.monotonic() < deadline:
        is_started = is_started or start(connection, path, b"" if waits else request)
        if is_started and not waits:
            break
        time.sleep(PAUSE_SECS)
        answer = ask(connection, request, deadline, waits=waits)
    if answer is None and is_started and waits and (lock := hold(connection["socket"] + RUNNING)) is not None:
        touch(connection["socket"] + FAILED)
        os.close(lock)
    text = json.loads(answer).get("text", "") if answer and name in SPOKEN else ""
    if not isinstance(text, str) or not 0 < len(text) <= MOST_CHARS:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def ask(connection: dict[str, str], request: bytes, deadline: float, *, waits: bool) -> bytes | None:
    """What the daemon answers; empty where none is waited for, and None where there is no daemon."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(max(deadline - time.monotonic(), PAUSE_SECS))
        try:
            client.connect(connection["socket"])
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while waits:
            client.settimeout(max(deadline - time.monotonic(), PAUSE_SECS))
            piece = client.recv(65_536)
            if not piece:
                break
            answer += piece
        return answer


def start(connection: dict[str, str], path: str, request: bytes) -> bool:
    """Start the daemon; False where another process runs, which may be about to listen as well as about to end.

    The daemon gets the request that is not sent again.
    """
    lock = hold(connection["socket"] + RUNNING)
    if lock is None:
        return False
    import subprocess

    process = subprocess.Popen(  # noqa: S603 - the interpreter of the user's own connection
        [connection["python"], "-m", "everfold.integrations.coding_agents.daemon", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        pass_fds=(lock,),
    )
    os.close(lock)  # the daemon has it open too, and the system lets go of it when the daemon ends
    if process.stdin is not None:
        process.stdin.write(request)
        process.stdin.close()
    return True


def hold(path: str) -> int | None:
    """Lock the file; None where another process holds it."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def touch(path: str) -> None:
    """Note that something happened now."""
    with open(path, "w", encoding="utf-8"):
        os.utime(path)


def is_fresh(path: str, secs: float) -> bool:
    """Whether that was noted less than so long ago."""
    try:
        return time.time() - os.stat(path).st_mtime < secs
    except OSError:
        return False


if __name__ == "__main__":
    try:
        sys.stdout.write(run(sys.argv[1], sys.stdin.buffer.read()))
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001, S110 - the hook must not stop its client, whatever happens
        pass
    os._exit(0)
