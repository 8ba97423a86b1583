"""A signal that does not end a wait of its own accord is heard all the same."""

import os
import signal
import threading
from types import FrameType

import pytest

from everfold.cli.chat.signals import nudged_by_signals

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no signals of a user's own")


class _HeardError(Exception):
    """The handler ran."""


def _raise(_number: int, _frame: FrameType | None) -> None:
    raise _HeardError


def test_a_signal_that_another_thread_took_ends_a_wait() -> None:
    """The main thread waits for a key, the kernel gives the signal to another thread: the handler runs before any key comes."""
    keys, fallback = os.pipe()
    give_up = threading.Timer(10.0, os.write, (fallback, b"x"))
    before = signal.signal(signal.SIGUSR1, _raise)
    rest = threading.Event()
    taker = threading.Thread(target=rest.wait)  # its mask is open: the signal goes to it
    try:
        with nudged_by_signals():
            taker.start()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
            give_up.start()
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pytest.raises(_HeardError):
                os.read(keys, 1)
        assert give_up.is_alive()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.signal(signal.SIGUSR1, before)
        give_up.cancel()
        rest.set()
        taker.join()
        os.close(keys)
        os.close(fallback)
