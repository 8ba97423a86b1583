"""A user's document in a file, told from a transcript by what it says of itself."""

from pathlib import Path

from everfold.core.portability.documents import FORMAT
from everfold.core.primitives.json_values import JsonObject, parse_json
from everfold.errors import InvalidInputError

_HEAD_CHARS = 200
"""Where an export says its format. Source: `everfold.core.portability.documents`, which writes it first."""


def find_user_document(path: Path) -> JsonObject | None:
    """The document of a file that is an export of a user, or None for any other file, whatever it is.

    A pipe can be read only once, and is left to the reader of transcripts.

    Raises:
        InvalidInputError: it says that it is one, and is broken.
    """
    if not path.is_file():
        return None
    try:
        with path.open(encoding="utf-8") as file:
            if f'"{FORMAT}"' not in file.read(_HEAD_CHARS):
                return None
        document = parse_json(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None  # the reader of transcripts says what is wrong with it
    except InvalidInputError as error:
        raise InvalidInputError(f"{path} is a broken user export: {error}", path=str(path)) from error
    return document if isinstance(document, dict) and document.get("format") == FORMAT else None
