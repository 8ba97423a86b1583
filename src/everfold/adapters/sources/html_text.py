"""The words of an HTML document, without loading, running or following anything in it."""

from html.parser import HTMLParser
from typing import Final

_SILENT: Final = frozenset("script style head title template noscript svg math iframe object select textarea".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav"
    " ol p pre section table td th tr ul".split()
)
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
_MOST_DEPTH: Final = 2_000
_HIDING: Final = {
    "display": {"none"},
    "visibility": {"hidden", "collapse"},
    "opacity": {"0"},
    "font-size": {"0", "0px", "0pt", "1px"},
    "mso-hide": {"all"},
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []  # open elements, from the first one that is not shown

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")
        if tag in _VOID:
            return
        if self._hidden or tag in _SILENT or _is_hidden(attrs):
            del self._hidden[_MOST_DEPTH:]
            self._hidden.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # the parser's port
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")
        if tag in self._hidden:  # closes what was left open inside
            while self._hidden.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    """Whether an element is not shown: the preheaders of newsletters, and text for machines only."""
    given = dict(attrs)
    pairs = (part.partition(":") for part in (given.get("style") or "").lower().split(";"))
    style = {name.strip(): value.partition("!")[0].strip() for name, _, value in pairs}
    return "hidden" in given or any(style.get(name) in values for name, values in _HIDING.items())


def read_html(html: str) -> str:
    """What a reader would see of the words, a line for each block; broken markup gives what can be read of it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)
