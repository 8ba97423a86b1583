"""Marked parts: what stands in a text between marks that say that it was copied from somewhere.

Quoted lines, fenced and indented blocks, tagged parts, forwarded mails, pasted chats and lines of code. Each finder gives spans of the
text. A mark that opens and is never closed reaches to the end: what came from outside must not end its own quotation.

Source: CommonMark 0.31 for quotes, fences and indented code; RFC 5322 and the mail programs for headers and forwards.
"""

import re
from collections.abc import Iterator
from typing import Final

from everfold.core.statements.chats import list_chats
from everfold.core.statements.code_lines import list_code
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.segments import Span

_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,}|\"{3}|'{3})", re.MULTILINE)
_QUOTED_LINES: Final = re.compile(r"(?:^[ \t]{0,3}[>\uff1e][^\n]*(?:\n|\Z))+", re.MULTILINE)
_COMPARISON: Final = re.compile(r"[ \t]{0,3}[>\uff1e]=?[ \t]*[$€£~]?\d")
"""More than a number: no quotation, where every line of a run is so."""
_TAG: Final = re.compile(
    r"<([A-Za-z][\w.:-]{0,40})(?:\s[^<>\n]{0,400})?>|\[(quote|cite|code|file|document)(?:[= ][^\]\n]{0,80})?\]"
)
_OWN_TAGS: Final = list_word_set(
    "a abbr b big br center del em font h1 h2 h3 h4 h5 h6 hr i important ins instruction instructions kbd li mark me my note"
    " ol p preference preferences prompt question request rule rules s small span strong sub sup system-reminder task tasks u ul"
    " user user_query user-query"
)
"""Tags in which people put their own words: those that only format, and those that say that they instruct."""
_ATTACHED: Final = list_word_set(
    "article attachment blockquote context document documents email file files forwarded letter mail message page paste"
    " pasted quote quoted search_results source text tool_result transcript untrusted web_page webpage website"
)
"""Tags that reach to the end of the text when they are never closed."""
_HEADERS: Final = (
    r"(?:From|To|Cc|Bcc|Sent|Date|Subject|Reply-To|Von|An|Gesendet|Datum|Betreff|De|À|A|Envoyé|Objet|Date|Para|Enviado(?: el)?"
    r"|Fecha|Asunto|Da|Inviato|Data|Oggetto|Assunto|Enviada(?: em)?|Van|Aan|Verzonden|Onderwerp|От|Кому|Дата|Отправлено|Тема"
    r"|Od|Do|Temat|Från|Till|Skickat|Ämne|Fra|Til|Sendt|Emne|差出人|宛先|送信日時|日時|件名|发件人|收件人|发送时间|日期|主题"
    r"|보낸 ?사람|받는 ?사람|보낸 ?날짜|날짜|제목)"
)
_HEADER_LINES: Final = re.compile(
    rf"^[ \t*>]*{_HEADERS}\**[ \t]?[:\uff1a][^\n]*\n(?:[ \t]+\S[^\n]*\n)*[ \t*>]*{_HEADERS}\**[ \t]?[:\uff1a]",
    re.MULTILINE | re.IGNORECASE,
)
"""Two lines of a mail's head, one after the other."""
_HEAD: Final = re.compile(
    rf"(?:[ \t*>]*(?:{_HEADERS}|\w+(?:-\w+)+)\**[ \t]?[:\uff1a][^\n]*(?:\n|\Z)(?:[ \t]+\S[^\n]*(?:\n|\Z))*)+",
    re.IGNORECASE,
)
_HEAD_END: Final = re.compile(r"[ \t>]*(?:\n|\Z)")
_SENDER: Final = re.compile(
    r"^[ \t*>]*(?:From|Von|De|Da|Van|От|Od|Från|Fra|差出人|发件人|보낸 ?사람)\**[ \t]?[:\uff1a]",
    re.MULTILINE | re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    r"^[ \t*>]*(?:Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|Тема|Temat|Ämne|Emne|件名|主题|제목)\**[ \t]?[:\uff1a]",
    re.MULTILINE | re.IGNORECASE,
)
_FORWARD: Final = re.compile(
    r"^[ \t>*]*(?:-{2,}[ \t]*(?!end)(?:Original|Forwarded|Weitergeleitete|Ursprüngliche|Message transféré|Message d'origine|Mensaje"
    r"|Messaggio|Mensagem|Doorgestuurd|Oorspronkelijk|Пересылаемое|Исходное|転送|元の|转发|原始|전달|원본)[^\n]{0,60}"
    r"|Begin forwarded message|Anfang der weitergeleiteten|Début du message (?:réexpédié|transféré)|Inicio del mensaje reenviado"
    r"|Inizio messaggio inoltrato|Início da mensagem|Begin doorgestuurd bericht|Начало переадресованного|転送されたメッセージ"
    r"|开始转发的邮件|_{10,}[ \t]*\n[ \t]*(?:From|Von|De|Da|Van)[ \t]?:"
    r"|-{2,}[ \t]*(?:begin|start)(?: of)?\b[^\n]{0,60}-{2,})",
    re.MULTILINE | re.IGNORECASE,
)
_FORWARD_END: Final = re.compile(r"^[ \t>]*-{2,}[ \t]*end\b[^\n]{0,60}$", re.MULTILINE | re.IGNORECASE)
_INDENTED: Final = re.compile(r"[:?\uff1a\uff1f][ \t]*\n[ \t]*\n((?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n)+)")


def list_marked(text: str) -> Iterator[Span]:
    """The spans of a text that marks take out of what its writer says, in no order. O(length)."""
    if "```" in text or "~~~" in text or '"""' in text or "'''" in text:
        yield from _list_fenced(text)
    if "<" in text or "[" in text:
        yield from _list_tagged(text)
    if ">" in text or "\uff1e" in text:
        yield from _list_quoted_lines(text)
    if "\n    " in text or "\n\t" in text:
        yield from (found.span(1) for found in _INDENTED.finditer(text))
    if "--" in text or ":" in text or "\uff1a" in text or "_____" in text:
        yield from _list_mails(text)
    if "\n" in text:
        yield from list_chats(text)
    if "#" in text or "//" in text or "/*" in text or "@@ -" in text:
        yield from list_code(text)


def _list_fenced(text: str) -> Iterator[Span]:
    opened: tuple[int, str] | None = None
    for found in _FENCE.finditer(text):
        if opened is None:
            opened = found.start(), found[1]
        elif found[1].startswith(opened[1]):
            yield opened[0], found.end()
            opened = None
    if opened is not None:
        yield opened[0], len(text)


def _list_tagged(text: str) -> Iterator[Span]:
    lowered = text.lower()
    at = 0
    while (found := _TAG.search(text, at)) is not None:
        at = found.end()
        name = (found[1] or found[2]).lower()
        if name in _OWN_TAGS or found[0].endswith("/>"):
            continue
        closing = f"</{name}>" if found[1] else f"[/{name}]"
        end = lowered.rfind(closing, at)
        if end >= 0:
            at = end + len(closing)
            yield found.start(), at
        elif name in _ATTACHED or not found[1]:
            yield found.start(), len(text)
            return


def _list_quoted_lines(text: str) -> Iterator[Span]:
    for run in _QUOTED_LINES.finditer(text):
        if not all(map(_COMPARISON.match, run[0].splitlines())):
            yield run.span()


def _list_mails(text: str) -> Iterator[Span]:
    forward = _FORWARD.search(text)
    starts = [at for at in (forward and forward.start(), _find_head(text)) if at is not None]
    if not starts:
        return
    start = min(starts)
    ends = [found.end() for found in _FORWARD_END.finditer(text, start)]
    yield start, ends[-1] if ends else len(text)


def _find_head(text: str) -> int | None:
    """Where a mail's head begins; a list of fields, such as those of a journey, is none."""
    at = 0
    while (found := _HEADER_LINES.search(text, at)) is not None:
        head = _HEAD.match(text, found.start())
        if head is not None and _is_mail(head):
            return found.start()
        at = max(found.end(), head.end() if head else 0)
    return None


def _is_mail(head: re.Match[str]) -> bool:
    """Whether lines like a mail's head have an address, a sender and a subject, or a blank line below."""
    is_named = _SENDER.search(head[0]) is not None and _SUBJECT.search(head[0]) is not None
    return "@" in head[0] or is_named or _HEAD_END.match(head.string, head.end()) is not None
