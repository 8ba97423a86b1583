"""Print `everfold.sync_classes`: the classes of the sync face, made from those of the async one. `make api` writes it."""

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef

CLASSES = {
    "Everfold": ("everfold.engine",),
    "Session": ("everfold.session",),
    "Integration": ("everfold.integration",),
    "Inspection": ("everfold.inspection", "everfold.services.inspection.inspect_session:Inspector"),
    "Admin": ("everfold.admin",),
    "Memory": ("everfold.memory",),
    "MemoryFiles": ("everfold.services.memory.memory_files",),
    "MemoryTools": ("everfold.services.memory.memory_tools",),
    "Replay": ("everfold.services.inspection.replay",),
    "ApiKeys": ("everfold.services.access.api_keys",),
    "Requests": ("everfold.services.access.answer_once",),
    "Conversations": ("everfold.services.sessions.conversations",),
    "UsageStore": ("everfold.ports.usage",),
    "LeaseStore": ("everfold.ports.leases",),
}
"""Each class that blocks, with the modules that its methods come from."""

OPENED = frozenset({"Everfold"})
"""The classes that are opened."""

LEFT_OUT = {"Everfold": frozenset({"start", "close"}), "Admin": frozenset({"stream", "users"})}
"""What `everfold.sync.Opening` stands for, and what only a server on the engine's own thread uses."""

HEAD = '''"""The classes of the sync face. Written by `make api` from the async classes: change those, and run it."""

# ruff: noqa: A002, PLR0913

'''


@dataclass(slots=True)
class Source:
    """A module as it is written, with the home of every name in it."""

    name: str
    tree: ast.Module
    homes: dict[str, str] = field(default_factory=dict)


def write_classes() -> str:
    """The module's text, in the form that ruff gives it."""
    homes: dict[str, str] = {name: sources[0] for name, sources in CLASSES.items()}
    bodies = [body for name in CLASSES for body in _write_class(name, homes)]
    homes |= {"Generator": "collections.abc", "Blocking": "everfold.sync", "Opening": "everfold.sync"}
    imports = [f"from {home} import {name}" for name, home in homes.items()]
    return _format("\n".join([HEAD, *imports, *bodies]))


def _write_class(name: str, homes: dict[str, str]) -> Iterator[str]:
    sources = [_read_class(name, source) for source in CLASSES[name]]
    yield f"class Sync{name}({'Opening' if name in OPENED else 'Blocking'}[{name}]):"
    yield _quote(f"`{name}` with methods that block.") + "\n"
    for source, cls in sources:
        for method in cls.body:
            if _is_public(method) and method.name not in LEFT_OUT.get(name, ()):
                homes |= _find_homes(source, method)
                yield _write_method(method)


def _read_class(name: str, where: str) -> tuple[Source, ast.ClassDef]:
    module, _, other = where.partition(":")
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    source = Source(module, ast.parse(Path(spec.origin).read_text("utf-8")))
    for node in source.tree.body:
        match node:
            case ast.ImportFrom(module=str(home)):
                source.homes |= {alias.name: home for alias in node.names}
            case ast.ClassDef():
                source.homes[node.name] = module
            case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)):
                source.homes[target] = module
    return source, next(it for it in source.tree.body if isinstance(it, ast.ClassDef) and it.name == (other or name))


def _is_public(node: ast.stmt) -> TypeGuard[Function]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")


def _find_homes(source: Source, method: Function) -> dict[str, str]:
    """Where the names of a method's head come from."""
    heads = [method.args, *method.decorator_list, *([method.returns] if method.returns else [])]
    names = {node.id for head in heads for node in ast.walk(head) if isinstance(node, ast.Name)}
    return {name: source.homes[name] for name in sorted(names) if name in source.homes and name != "AsyncIterator"}


def _write_method(method: Function) -> str:
    returns = ast.unparse(method.returns).strip("'") if method.returns else "None"
    text = ast.get_docstring(method, clean=True) or ""
    if any(isinstance(it, ast.Name) and it.id == "property" for it in method.decorator_list):
        return _write_property(method.name, returns, text)
    given = ", ".join([f"self._wrapped.{method.name}", *_pass_on(method.args)])
    called = f"self._{'call' if isinstance(method, ast.AsyncFunctionDef) else 'run'}({given})"
    if returns.startswith("AsyncIterator["):
        item = returns.removeprefix("AsyncIterator[").removesuffix("]")
        returns, called = f"Generator[{item}, None, None]", f"self._iterate(self._run({given}))"
    decorators = "".join(f"    @{ast.unparse(one)}\n" for one in method.decorator_list)
    return decorators + _write_function(method.name, ast.unparse(method.args), returns, text, called)


def _write_property(name: str, kind: str, text: str) -> str:
    return "    @property\n" + _write_function(name, "self", kind, text, f"self._wrapped.{name}")


def _write_function(name: str, arguments: str, returns: str, text: str, called: str) -> str:
    if returns in CLASSES:
        returns, called = f"Sync{returns}", f"Sync{returns}({called}, self._portal)"
    done = called if returns == "None" else f"return {called}"
    return f"    def {name}({arguments}) -> {_quote_late(returns)}:\n{_quote(text, 8)}\n        {done}\n"


def _pass_on(arguments: ast.arguments) -> list[str]:
    plain = [it.arg for it in [*arguments.posonlyargs, *arguments.args] if it.arg != "self"]
    return [*plain, *(f"{it.arg}={it.arg}" for it in arguments.kwonlyargs)]


def _quote(text: str, indent: int = 4) -> str:
    lines = [f"{' ' * indent}{line}".rstrip() for line in text.splitlines()]
    end = f"\n{' ' * indent}" if len(lines) > 1 else ""
    return f'{" " * indent}"""{chr(10).join(lines).strip()}{end}"""'


def _quote_late(kind: str) -> str:
    """A class of this module may stand further down."""
    return f'"{kind}"' if kind.startswith("Sync") else kind


def _format(text: str) -> str:
    for command in (["check", "--fix-only", "--select", "I,F401,UP", "--quiet"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "src/everfold/sync_classes.py", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    sys.stdout.write(write_classes())
