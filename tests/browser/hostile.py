"""Texts that try to run, to break out of their place, or to break the layout."""

from typing import Final

HACKED: Final = "window.hacked = 1"
"""What each of them would do if it ran; a page where it is undefined has run none."""

RUNNING: Final = (
    f"<script>{HACKED}</script>",
    f'"><img src=x onerror="{HACKED}">',
    f"<svg/onload='{HACKED}'><animate onbegin='{HACKED}' attributeName=x></svg>",
    f"</textarea></title></style><iframe srcdoc='<script>parent.{HACKED}</script>'></iframe>",
    f'[a link](javascript:{HACKED}) ![an image](x" onerror="{HACKED})',
    f"<a href='javascript:{HACKED}'>text</a><details open ontoggle='{HACKED}'>",
    f"${{{HACKED}}} {{{{constructor.constructor('{HACKED}')()}}}} `{HACKED}`",
)
"""Markup, links and templates."""

BREAKING: Final = (
    "\u202eright to left, never closed \u2067\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "Z" + "".join(chr(0x300 + mark % 0x70) for mark in range(240)) + "algo",
    "W" * 3_000,
    "\u200b\u200d\ufeff \t invisible \u00ad\u2028 lines \u2029 and \x7f marks",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 " * 60,
)
"""Directions, heaps of marks, words without an end."""

HUGE: Final = "x<b>" * 250_000
"""A line of a megabyte without a space."""

HOSTILE: Final = (*RUNNING, *BREAKING)
