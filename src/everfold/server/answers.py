"""Answers in JSON that hold every text exactly."""

import json

from fastapi.responses import JSONResponse


class ExactAnswer(JSONResponse):
    """JSON in UTF-8; half of a character, which UTF-8 does not have, is written as its escape and so reads back equal.

    Source: RFC 8259, section 8.2 (unpaired surrogates are written as escapes).
    """

    def render(self, content: object) -> bytes:
        """The bytes of the body."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")
