"""Print the public face of Everfold, a name a line: what `tests/api.txt` freezes."""

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType

MODULES = ("everfold", "everfold.errors", "everfold.testing")


def list_face() -> Iterator[str]:
    """Each public name with its signature, by module, in alphabetical order.

    A name that an earlier module already gave is not repeated.
    """
    seen: set[int] = set()
    for module_name in MODULES:
        if importlib.util.find_spec(module_name) is None:
            continue
        module = importlib.import_module(module_name)
        for name in sorted(_list_names(module)):
            value = getattr(module, name)
            if id(value) not in seen:
                yield from _describe(f"{module_name}.{name}", value)
            if callable(value):
                seen.add(id(value))


def _list_names(module: ModuleType) -> list[str]:
    if (names := getattr(module, "__all__", None)) is not None:
        return list(names)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def _describe(path: str, value: object) -> Iterator[str]:
    if inspect.ismodule(value):
        yield f"{path} (module)"
    elif inspect.isclass(value):
        yield from _describe_class(path, value)
    elif inspect.isroutine(value):
        yield f"{path}{_sign(value)}"
    else:
        yield f"{path}: {type(value).__name__}"


def _describe_class(path: str, cls: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in cls.__bases__ if base is not object)
    yield f"{path}({bases})" if bases else path
    if "__init__" in vars(cls) and not getattr(cls, "_is_protocol", False):
        yield f"{path}.__init__{_sign(vars(cls)['__init__'])}"
    for name in sorted(set(vars(cls)) | set(inspect.get_annotations(cls))):
        if not name.startswith("_"):
            yield _describe_member(f"{path}.{name}", vars(cls).get(name), cls, name)


def _describe_member(path: str, member: object, cls: type, name: str) -> str:
    if isinstance(member, staticmethod | classmethod):
        return f"{path}{_sign(member.__func__)}"
    if inspect.isroutine(member):
        return f"{path}{_sign(member)}"
    annotation = inspect.get_annotations(cls).get(name)
    typed = f"{path}: {_name_type(annotation)}" if annotation is not None else path
    return f"{typed} = {member!r}" if isinstance(member, str | int | float) else typed


def _name_type(annotation: object) -> str:
    return annotation.__name__ if type(annotation) is type else str(annotation)


def _sign(function: object) -> str:
    prefix = " async" if inspect.iscoroutinefunction(inspect.unwrap(function)) else ""
    try:
        signature = str(inspect.signature(function))  # type: ignore[arg-type]  # what has none raises ValueError
    except ValueError:
        signature = "(...)"
    return re.sub(r" at 0x[0-9a-f]+|(?<=pathlib\.)_local\.", "", signature) + prefix


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in list_face())
