"""The words of an HTML document, without loading, running or following anything in it.

A scan of its own, because the standard parser takes time that grows with the square of some broken documents, and mail
is not trusted. Each search here either moves on to what it found or, when there is nothing more to find, ends the
document, as a browser does at the end of a file within a tag; so the whole takes time in proportion to its length.

Source: the tokenization of the HTML Standard, 13.2.5, as far as the words need it.
"""

import html
import re
import string
from collections import Counter
from typing import Final

_RAW: Final = frozenset("script style title textarea iframe noembed noframes xmp template svg math noscript".split())
"""Elements whose content is skipped to their end tag, whatever it looks like."""
_SILENT: Final = frozenset("head object select".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav"
    " ol p pre section table td th tr ul".split()
)
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
_HIDING: Final = {
    "display": {"none"},
    "visibility": {"hidden", "collapse"},
    "opacity": {"0"},
    "font-size": {"0", "0px", "0pt", "1px"},
    "mso-hide": {"all"},
}
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_NAME: Final = re.compile(r"[a-zA-Z][^\s/>]*")
_STOP: Final = re.compile("[>\"']")
_ATTRIBUTE: Final = re.compile(r"""([^\s=/"'>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]*))?""")


def read_html(document: str) -> str:
    """What a reader would see of the words, a line for each block; broken markup gives what can be read of it."""
    text = "".join(_Scan(document).read())
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


class _Scan:
    """One pass over a document; `at` is the place that it has come to."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._lower = document.translate(_LOWER)  # places stay, which `lower` does not promise
        self._at = 0
        self._parts: list[str] = []
        self._hidden: list[str] = []  # open elements, from the first one that is not shown
        self._hidden_counts: Counter[str] = Counter()
        self._is_unclosed = {'"': False, "'": False}  # no such quote comes any more

    def read(self) -> list[str]:
        while self._at < len(self._document):
            start = self._document.find("<", self._at)
            if start < 0:
                start = len(self._document)
            self._say(html.unescape(self._document[self._at : start]))
            self._at = start
            if start < len(self._document):
                self._pass_markup()
        return self._parts

    def _say(self, text: str) -> None:
        if text and not self._hidden:
            self._parts.append(" ".join(text.split("\n")))

    def _pass_markup(self) -> None:
        rest = self._document[self._at : self._at + 4]
        if rest == "<!--":
            self._skip_to("-->", self._at + 2)  # `<!-->` is a whole comment
        elif rest[1:2] in ("!", "?"):
            self._skip_to(">", self._at + 2)
        elif (name := _NAME.match(self._document, self._at + 2 if rest[1:2] == "/" else self._at + 1)) is not None:
            self._pass_tag(name, is_end=rest[1:2] == "/")
        elif rest[1:2] == "/":
            self._skip_to(">", self._at + 2)
        else:
            self._say("<")
            self._at += 1

    def _skip_to(self, mark: str, start: int, *, text: str | None = None) -> None:
        found = (self._document if text is None else text).find(mark, start)
        self._at = len(self._document) if found < 0 else found + len(mark)

    def _pass_tag(self, name: re.Match[str], *, is_end: bool) -> None:
        tag = name[0].lower()
        end = self._find_tag_end(name.end())
        attributes, self._at = self._document[name.end() : end], end + 1
        if tag in _BLOCKS:
            self._parts.append("\n")
            if not is_end and self._hidden[-1:] == ["p"]:
                self._close("p")  # a paragraph ends where the next block begins
        if is_end:
            self._close(tag)
        elif tag in _RAW:
            if not attributes.endswith("/"):
                self._skip_to(f"</{tag}", self._at, text=self._lower)
                self._skip_to(">", self._at)
        elif tag not in _VOID and (self._hidden or tag in _SILENT or _is_hidden(attributes)):
            self._hidden.append(tag)
            self._hidden_counts[tag] += 1

    def _find_tag_end(self, at: int) -> int:
        """Where the tag's `>` is, quotes passed over; the document's end when there is none."""
        while (stop := _STOP.search(self._document, at)) is not None:
            quote = stop[0]
            if quote == ">":
                return stop.start()
            closing = -1 if self._is_unclosed[quote] else self._document.find(quote, stop.end())
            self._is_unclosed[quote] = closing < 0
            at = max(closing + 1, stop.end())
        return len(self._document)

    def _close(self, tag: str) -> None:
        """End an element that is not shown, and what was left open inside it."""
        while self._hidden_counts[tag]:
            closed = self._hidden.pop()
            self._hidden_counts[closed] -= 1
            if closed == tag:
                return


def _is_hidden(attributes: str) -> bool:
    """Whether an element is not shown: the preheaders of newsletters, and text for machines only."""
    found = {name.lower(): value.strip("\"'") for name, value in _ATTRIBUTE.findall(attributes)}
    pairs = (part.partition(":") for part in found.get("style", "").lower().split(";"))
    style = {name.strip(): value.partition("!")[0].strip() for name, _, value in pairs}
    return "hidden" in found or any(style.get(name) in values for name, values in _HIDING.items())
