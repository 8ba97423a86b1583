"""Lines that speak to whoever reads a digest instead of reporting: instructions, changed roles, forged marks.

A digest reports what was said; it has no reader to address. The list is small on purpose: it is held against text that a
model wrote under the rule to report only, never against messages, so a rule of the user ("never deploy on a Friday") and
a report of an attack ("the page tried to give instructions") must pass it.

Source: DESIGN 3.4 and 4; own list, after the published classes of prompt injection (override, new role, forged turn,
exfiltration).
"""

import re
from typing import Final

_PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "an instruction to drop instructions",
        re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass)\b[\w ,']{0,20}\b(?:all|any|every|previous|prior|above|earlier|preceding|your|these|those|other)\b"
            r"[\w ,']{0,24}\b(?:instructions?|prompts?|rules|guidelines|directives|commands|constraints|context|messages)\b"
            r"|\b(?:ignore|disregard|forget)\s(?:everything|all|anything)\s(?:above|before|prior|said|you)"
            r"|\bignoriere?n?\b[\w ,]{0,24}\banweisungen\b|\bignore[zr]?\b[\w ,']{0,24}\b(?:instructions|instrucciones)\b"
        ),
    ),
    (
        "a new role for the reader",
        re.compile(
            r"\byou are now (?:an? |the |my |acting\b|free (?:of|from)\b|no longer\b|in (?:developer|debug|admin|god|jailbreak)\b)|\bfrom now on,? you(?:r| will| must| are| shall|'ll)\b|\bnew (?:system )?(?:instructions?|prompt|rules) ?:"
            r"|\byou (?:must|should|will|shall) (?:now )?(?:ignore|obey|comply|pretend|reply only|respond only|always answer)\b"
            r"|\b(?:act|behave) as (?:if you|though you|an? (?:unrestricted|unfiltered|jailbroken))|\bdeveloper mode\b|\bjailbreak mode\b"
        ),
    ),
    (
        "a forged turn",
        re.compile(
            r"^\s*(?:\[?(?:system|developer)\]?\s*:|(?:human|assistant|user)\s*:\s*$)|<\|?(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\b"
            r"|\[/?inst\]|<</?sys>>|^\s*#{1,4}\s*(?:instruction|system prompt)s?\s*:?\s*$|\"role\"\s*:\s*\"(?:system|developer)\""
        ),
    ),
    (
        "a forged mark",
        re.compile(
            r"={3,}\s*(?:end|digest|standing|record)|<<<\s*(?:end\s)?(?:untrusted|messages)\b|\bend (?:untrusted|messages) [0-9a-f]{8,}|>>>\s*$"
        ),
    ),
    (
        "a wish to hide or to leak",
        re.compile(
            r"\b(?:do not|don't|never) (?:tell|inform|reveal (?:this )?to|mention (?:this )?to|show) the (?:user|human|operator)\b"
            r"|\b(?:reveal|print|output|repeat|send|leak) (?:your|the) (?:system prompt|hidden|instructions|secrets?|credentials)\b"
            r"|\b(?:send|post|forward|exfiltrate)\b[^.\n]{0,60}\b(?:conversation|history|secrets?|credentials|api keys?)\b[^.\n]{0,40}\b(?:https?://|to \S+@)"
        ),
    ),
    (
        "an address to the reader",
        re.compile(
            r"\b(?:attention|dear|note to|instructions? (?:for|to)),? (?:the )?(?:ai|assistant|model|llm|reader|agent)\b[^\n]{0,4}[:,!]"
            r"|\b(?:as|when) (?:the|an) (?:ai|assistant|model) reading this\b"
        ),
    ),
)


def find_hostile(line: str) -> str | None:
    """What a line does to its reader, in words, or None. O(length)."""
    lowered = line.lower().replace("\u2019", "'")
    return next((name for name, pattern in _PATTERNS if pattern.search(lowered)), None)
