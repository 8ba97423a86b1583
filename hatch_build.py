"""The build hook that compiles the reading of text into the wheel, where the machine has a C compiler.

Theory of operation: the modules that pyproject.toml names under `hooks.custom` are plain functions over strings, the
innermost loops of an append. mypyc turns them into extension modules, which the wheel holds beside their sources; Python
imports an extension before a source of the same name, and the source where there is no extension for it. The same code
runs either way. An editable install stays plain, so that an edit is never shadowed by what was compiled before.

Run by hand: `make wheel`. `EVERFOLD_COMPILE=0` builds the plain wheel, `EVERFOLD_COMPILE=1` fails where it cannot
compile; unset, a machine without a compiler gets the plain wheel and is told.

Source: docs/adr/0026-compiled-reading.md.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES = "src"
_GROUP = "everfold"
_TYPES = """
[mypy]
follow_imports = silent

# The package's own __init__ brings in everything else, of which the compiled modules use nothing.
[mypy-everfold]
follow_imports = skip
"""


class CompiledReading(BuildHookInterface[Any]):
    """Compiles the modules of `compiled` into a folder beside the build, and has the wheel take them from there."""

    PLUGIN_NAME = "custom"
    _folder: "TemporaryDirectory[str] | None" = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add what came of it to the wheel."""
        wanted = os.environ.get("EVERFOLD_COMPILE", "")
        if version == "editable" or wanted == "0":
            return
        if not wanted and not has_compiler():
            self.app.display_warning(
                "everfold: no C compiler here, so the plain wheel is built; it is the same, slower"
            )
            return
        self._folder = TemporaryDirectory(prefix="everfold-build-")
        into = Path(self._folder.name)
        run_mypyc(Path(self.root), self.config["compiled"], into)
        built = into / "lib"
        found = {str(file): str(file.relative_to(built)) for file in built.rglob("*") if file.is_file()}
        build_data["force_include"].update(found)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's
        """Remove what the wheel now holds."""
        if self._folder is not None:
            self._folder.cleanup()


def has_compiler() -> bool:
    """Whether the compiler that this Python was built with is on the PATH."""
    command = (sysconfig.get_config_var("CC") or "cc").split()
    return shutil.which(command[0]) is not None


def run_mypyc(root: Path, modules: list[str], into: Path) -> None:
    """Compile modules, given as paths below the sources, into `into/lib`; in a process of its own, at the sources.

    Raises:
        RuntimeError: mypyc or the C compiler refused them; says what they printed.
    """
    command = [sys.executable, str(Path(__file__).resolve()), str(into), *modules]
    ended = subprocess.run(command, cwd=root / _SOURCES, capture_output=True, text=True, check=False)  # noqa: S603
    if ended.returncode != 0:
        message = f"everfold: {len(modules)} modules did not compile; EVERFOLD_COMPILE=0 builds without it.\n"
        raise RuntimeError(message + ended.stdout + ended.stderr)


def main(into: Path, modules: list[str]) -> None:
    """What that process does: have mypyc write C, and setuptools build it."""
    from mypyc.build import mypycify
    from setuptools import setup

    types = into / "mypy.ini"
    types.write_text(_TYPES, encoding="utf-8")
    arguments = [f"--config-file={types}", f"--cache-dir={into / 'types'}", *modules]
    extensions = mypycify(
        arguments, opt_level="2", debug_level="0", target_dir=str(into / "c"), group_name=_GROUP, strip_asserts=False
    )
    folders = [f"--build-lib={into / 'lib'}", f"--build-temp={into / 'objects'}"]
    setup(name=_GROUP, packages=[], ext_modules=extensions, script_args=["--quiet", "build_ext", *folders])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
