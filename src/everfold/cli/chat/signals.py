"""Signals that come just before a program begins to wait for a key.

readline draws the line and then waits, and Python runs a handler only once that wait ends: a signal between the two would be
heard with the next key. The runtime writes the number of every signal to a socket the moment it comes; a thread that reads
it ends the wait a moment later, with a signal that does nothing else.

Source: the documentation of `signal.set_wakeup_fd`; PEP 475 for what an interrupted wait does.
"""

import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NUDGES_COUNT: Final = 4
NUDGE_SECS: Final = 0.05
"""How often, and how far apart, a wait is ended: it may not have begun at the first time."""


@contextmanager
def nudged_by_signals() -> Iterator[None]:
    """While this is open, no wait of the main thread outlasts a signal; where the system has no such signals, nothing."""
    if not hasattr(signal, "SIGURG") or not hasattr(signal, "pthread_kill"):
        yield
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    handler = signal.signal(signal.SIGURG, lambda _number, _frame: None)
    fd = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    nudging = threading.Thread(target=_nudge, args=(heard, threading.get_ident()), name="everfold-signals", daemon=True)
    nudging.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(fd)
        told.close()
        nudging.join()
        heard.close()
        signal.signal(signal.SIGURG, handler)


def _nudge(heard: socket.socket, thread_id: int) -> None:
    """End the wait of a thread after each signal, until the other end is closed."""
    while numbers := heard.recv(64):
        if set(numbers) <= {int(signal.SIGURG)}:
            continue
        for _ in range(NUDGES_COUNT):
            time.sleep(NUDGE_SECS)
            signal.pthread_kill(thread_id, signal.SIGURG)
