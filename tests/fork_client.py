"""Runs `everfold` as a fork of a process that has loaded it already: for the scripts of a shell.

Takes the socket of `forks.py`, then the command line. It has the exit code of the program, and hands signals on to it.
It imports little, as it is started for each command.
"""

import json
import os
import signal
import socket
import sys

CODE = "from everfold.cli.entry import run; run()"

if __name__ == "__main__":
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    socket.send_fds(connection, [b"!"], [0, 1, 2])
    channel = connection.makefile("rw", encoding="utf-8")
    order = {"code": CODE, "arguments": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ), "secs": 0}  # noqa: PTH109 - pathlib takes long to import
    channel.write(json.dumps(order) + "\n")
    channel.flush()
    program = int(channel.readline())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(program, number))
    code = int(channel.readline())
    sys.exit(code if code >= 0 else 128 - code)
