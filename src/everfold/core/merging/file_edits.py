"""Edits of memory files: what becomes of a file's text, and whether it may be kept.

Every new text is scanned as an agent's notes are: words that would give orders to a later reader are refused, secrets are
replaced by marks.

Source: Anthropic, "Memory tool" (`memory_20250818`), for the edits and the wording of their refusals; DESIGN section 4, "Threats".
"""

from collections.abc import Iterable
from typing import Final

from everfold.core.memory.files import FileEntry
from everfold.core.threats.redaction import redact_secrets
from everfold.core.threats.scanning import scan_memory
from everfold.errors import InvalidInputError, LimitError, NotFoundError

MOST_FILES: Final = 256
"""Files of one agent for one user. Source: own choice; a listing of them stays readable for a model."""
MOST_FILE_CHARS: Final = 64_000
"""The longest file. Source: own choice; some 16,000 tokens, which a model can still read at once."""
MOST_CHARS: Final = 1_000_000
"""All files of one agent for one user together. Source: own choice."""


def replace_text(path: str, content: str, old: str, new: str) -> tuple[str, int]:
    """The content with the one place of a text replaced, and the line where it was.

    Raises:
        NotFoundError: the text is not in it.
        InvalidInputError: it stands there more than once; names the lines.
    """
    if not old or old not in content:
        raise NotFoundError(f"No replacement was performed, old_str `{old[:200]}` did not appear verbatim in {path}.")
    if content.count(old) > 1 or content.find(old) != content.rfind(old):
        lines = ", ".join(map(str, _find_lines(content, old)))
        raise InvalidInputError(
            f"No replacement was performed. Multiple occurrences of old_str `{old[:200]}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    return content.replace(old, new), _find_lines(content, old)[0]


def _find_lines(content: str, text: str) -> list[int]:
    starts: list[int] = []
    at = content.find(text)
    while at >= 0:
        starts.append(content.count("\n", 0, at) + 1)
        at = content.find(text, at + 1)
    return starts


def insert_text(content: str, after_line: int, text: str) -> str:
    """The content with a text after a line; 0 is before the first one.

    Raises:
        InvalidInputError: there is no such line.
    """
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= after_line <= len(lines):
        raise InvalidInputError(
            f"Invalid `insert_line` parameter: {after_line}. It should be within the range of lines of the file: "
            f"[0, {len(lines)}]"
        )
    return "\n".join((*lines[:after_line], text.removesuffix("\n"), *lines[after_line:], ""))


def clean_content(path: str, text: str) -> str:
    """What may be stored of a text: without its secrets.

    Raises:
        InvalidInputError: a scan finds that it would give orders to a later reader, or hide something; says what.
    """
    text = redact_secrets(text)
    kinds = dict.fromkeys(threat.kind.replace("_", " ") for threat in scan_memory(text, is_note=True))
    if kinds:
        raise InvalidInputError(
            f"{path} was not written: the text reads as {', '.join(kinds)}, which is not allowed; write facts in "
            "your own words"
        )
    return text


def hold_back_lines(content: str) -> str:
    """The same of a file that comes from elsewhere: lines with a threat are left out, secrets are replaced."""
    kept = (line for line in redact_secrets(content).split("\n") if not scan_memory(line, is_note=True))
    text = "\n".join(kept)
    return "" if scan_memory(text, is_note=True) else text


def require_room(entries: Iterable[FileEntry], path: str, content: str) -> None:
    """Check that a file may be written beside the others.

    Raises:
        LimitError: it is too long, or there would be too many files, or too much text.
    """
    if len(content) > MOST_FILE_CHARS:
        raise LimitError(
            f"{path} would have {len(content)} characters, at most {MOST_FILE_CHARS}; shorten it, or use another file"
        )
    others = [entry for entry in entries if entry.path != path]
    if len(others) >= MOST_FILES:
        raise LimitError(f"there are {len(others)} files, at most {MOST_FILES}; join notes, or delete old ones")
    total = sum(entry.chars_count for entry in others) + len(content)
    if total > MOST_CHARS:
        raise LimitError(
            f"with {path} all files together would have {total} characters, at most {MOST_CHARS}; delete old notes"
        )
