"""The words of HTML: what a reader sees, nothing that is hidden, and no document that takes for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.adapters.sources.html_text import read_html


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("", ""),
        ("Plain & simple", "Plain & simple"),
        ("<p>One<p>Two<br>Three</p>", "One\nTwo\nThree"),
        ("<b>a</b><i>b</i> c\n d", "ab c d"),
        ("1 < 2 &lt; 3 &amp;&#233;&#x110000;", "1 < 2 < 3 &\u00e9\ufffd"),
        ("<script>if (a < b) '</p>'</script>x<STYLE>p{}</style>y", "xy"),
        (
            "a<!-- <p>no --> b<!-->c<!doctype html>d<?php x ?>e<![CDATA[f]]>g<![if !mso]>h<![endif]>",
            "a bcdegh",
        ),
        ("<a href='>' title=\">\">link</a>", "link"),
        ("<img src=http://192.0.2.1/x.png alt=no>seen", "seen"),
        ("<div style='color:red; DISPLAY : none !important'>no<b>no</b></div>yes", "yes"),
        ("<div hidden><div>no</div>no</div>yes", "yes"),
        ("<span style='opacity:0.5'>half</span>", "half"),
        ("<head><meta charset=x><title>no</title></head><body>yes", "yes"),
        ("<p title='unclosed>there", "there"),
        ("<p hidden>no<p>yes", "yes"),
        ("before<a href='unclosed>link</a> after", "beforelink after"),
        ("</p attr='>'>x</>y</ z>w", "xyw"),
        ("<ta\u0130g>x<SCRIPT>no</SCRIPT>\u0130y", "x\u0130y"),
    ],
)
def test_what_a_reader_sees(document: str, words: str) -> None:
    """Blocks are lines; markup, scripts, comments and what is hidden are gone; references are characters."""
    assert read_html(document) == words


@given(
    document=st.lists(
        st.sampled_from(
            ["<", ">", "/", "!", "--", "'", '"', "=", " ", "a", "p", "div", "hidden", "script", "\n", "&#60;", "\u0130"]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_document_ends(document: str) -> None:
    """Whatever is broken in it, there is an answer of lines without empty ones."""
    assert "" not in read_html(document).split("\n") or not read_html(document)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        "<a/",
        "<!",
        "<!--",
        "<?",
        "</",
        "<a b='",
        "<a \"'",
        "&",
        "<div hidden>",
        "</div>",
        "<script>",
        "<![CDATA[",
    ],
)
def test_a_broken_document_costs_no_more_than_a_sound_one(piece: str) -> None:
    """Half a megabyte of one piece again and again, for which a scan that looks back would take minutes, is read."""
    assert len(read_html(piece * (500_000 // len(piece)) + "end")) <= 500_003
