"""What a coding agent's log is made of: requests, file listings, sources, tracebacks, diffs and test summaries."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

from bench.material import prose

Call: TypeAlias = tuple[str, dict[str, str], str]

_ERRORS: Final = ("KeyError", "ValueError", "TypeError", "IndexError", "AttributeError", "ZeroDivisionError")
_FOLDERS: Final = ("api", "billing", "cache", "export", "imports", "jobs", "mail", "pricing", "search", "tax")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingTask:
    """One bug of an invented project: what the user asks, where it sits, and what goes wrong."""

    request: str
    path: str
    function: str
    variable: str
    error: str
    ticket: str


def make_coding_request(rng: Random) -> CodingTask:
    """Invent one bug and the words that report it."""
    verb, noun, other = (
        rng.choice(("load", "parse", "merge", "render", "sum")),
        prose.make_word(rng),
        prose.make_word(rng),
    )
    path = f"src/{rng.choice(_FOLDERS)}/{noun}_{other}.py"
    function, error, ticket = f"{verb}_{noun}", rng.choice(_ERRORS), f"BUG-{rng.randrange(1000, 9999)}"
    request = rng.choice(
        (
            f"{ticket}: `{function}` in {path} raises {error} when the {other} is missing. Please fix it with a test.",
            f"Users see a {error} from {path}. Find out why `{function}` fails ({ticket}) and keep the public names.",
            f"Can you look at {ticket}? `{function}` breaks for an empty {other}. Never change the {noun} schema.",
        )
    )
    return CodingTask(request=request, path=path, function=function, variable=other, error=error, ticket=ticket)


def make_coding_steps(rng: Random, task: CodingTask) -> Iterator[list[Call]]:
    """Yield the steps that solve `task`: look, reproduce, edit, test; each a list of parallel calls with results."""
    folder = task.path.rsplit("/", 1)[0]
    line = rng.randrange(12, 180)
    yield [
        ("list_files", {"path": folder}, _listing(rng, folder)),
        ("read_file", {"path": task.path}, _source(rng, task, line)),
    ]
    test_path = f"tests/test_{task.function}.py"
    yield [("run_tests", {"target": test_path}, _failure(rng, task, line, test_path))]
    yield [("search_code", {"pattern": task.function}, _matches(rng, task))]
    yield [("edit_file", {"path": task.path, "patch": _diff(task, line)}, f"patched {task.path}: 1 hunk, +3 -1")]
    passed_count = rng.randrange(20, 400)
    yield [
        ("run_tests", {"target": test_path}, f"{test_path} ....\n4 passed in {rng.randrange(5, 90) / 100}s"),
        ("run_tests", {"target": "tests"}, f"{passed_count} passed, 2 skipped in {rng.randrange(3, 60)}.41s"),
    ]


def make_coding_summary(rng: Random, task: CodingTask) -> str:
    """Say what was done about `task`, as an agent reports it."""
    return (
        f"Fixed {task.ticket}: `{task.function}` in {task.path} read `{task.variable}` without a default, hence the "
        f"{task.error}. It now returns an empty {task.variable}; a test covers it. "
        f"{prose.make_answer_text(rng, size_tokens=rng.randrange(20, 80))}"
    )


def _listing(rng: Random, folder: str) -> str:
    names = sorted({f"{prose.make_word(rng)}_{prose.make_word(rng)}.py" for _ in range(rng.randrange(6, 30))})
    return "\n".join(f"{rng.randrange(200, 20_000):>7} {folder}/{name}" for name in names)


def _source(rng: Random, task: CodingTask, line: int) -> str:
    lines = [f"def {task.function}(record, *, {task.variable}=None):", f'    """Read the {task.variable}."""']
    lines += [
        f"    {prose.make_word(rng)} = record.get({prose.make_word(rng)!r}, {rng.randrange(100)})  # {prose.make_identifier(rng)}"
        for _ in range(rng.randrange(10, 70))
    ]
    lines.append(f"    return record[{task.variable!r}]")
    return "\n".join(f"{line - len(lines) + index + 1:>5} {text}" for index, text in enumerate(lines))


def _failure(rng: Random, task: CodingTask, line: int, test_path: str) -> str:
    return (
        f"FAILED {test_path}::test_missing_{task.variable}\nTraceback (most recent call last):\n"
        f'  File "{test_path}", line {rng.randrange(8, 60)}, in test_missing_{task.variable}\n'
        f'  File "{task.path}", line {line}, in {task.function}\n    return record[{task.variable!r}]\n'
        f"{task.error}: {task.variable!r}\n1 failed, {rng.randrange(2, 9)} passed in 0.{rng.randrange(10, 99)}s"
    )


def _matches(rng: Random, task: CodingTask) -> str:
    return "\n".join(
        f"src/{rng.choice(_FOLDERS)}/{prose.make_word(rng)}.py:{rng.randrange(1, 400)}: {task.function}(row)"
        for _ in range(rng.randrange(1, 12))
    )


def _diff(task: CodingTask, line: int) -> str:
    return (
        f"--- a/{task.path}\n+++ b/{task.path}\n@@ -{line},1 +{line},3 @@\n-    return record[{task.variable!r}]\n"
        f"+    if {task.variable!r} not in record:\n+        return []\n+    return record[{task.variable!r}]\n"
    )
