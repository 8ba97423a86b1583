import pytest

from everfold.core.digests.forms import QuoteForm, read_form
from everfold.core.primitives.origins import Origin


@pytest.mark.parametrize(
    ("quote", "origin", "form"),
    [
        ('run_shell {"command": "make test", "timeout": 60000}', "assistant", "call"),
        (r"if err != nil {\n\t\treturn fmt.Errorf(\"no header: %w\", err)\n", "assistant", "code"),
        ("Now let me look at the failing test more closely.", "assistant", "announcement"),
        ("Is there anything else that I can adjust?", "assistant", "announcement"),
        ("Feel free to reach out whenever you like.", "assistant", "announcement"),
        ("Let me know if you need another export.", "assistant", "announcement"),
        ("Let me know if the import fails again.", "assistant", "said"),
        ("The import fails because the header is missing.", "assistant", "said"),
        ("Errors and fixes:", "assistant", "heading"),
        ("Loading failed at once: the disk is full.", "assistant", "said"),
        ("</reminder>", "tool", "markup"),
        ("68 </section>", "tool", "markup"),
        ("<!-- /SUMMARY -->", "tool", "markup"),
        ("<b>Error:</b> no such table", "tool", "said"),
        ('327\u2192 raise ValueError("no header")', "tool", "code"),
        ("731-\t// Best effort: do not fail on errors", "tool", "code"),
        ("src/load.go:88:func readHeader() error {", "tool", "code"),
        ("src/load.go:90: state.Errors = 0", "tool", "code"),
        ("src/load.go-663-", "tool", "code"),
        ('src/load.go-91- log.Warn(ctx, "header failed",', "tool", "code"),
        ("// From load.go, where reading fails:", "assistant", "code"),
        ("if failed := load(path); failed {", "assistant", "code"),
        ("For the two failing tests I see one cause:", "assistant", "said"),
        ("src/load.go:90:12: undefined: readHeader", "tool", "said"),
        ("src/load.py:90: error: Missing return statement", "tool", "said"),
        ("load_test.go:31: header is missing, got 0 rows", "tool", "said"),
        ("+ if failed := load(path); failed {", "tool", "code"),
        ("E   AssertionError: assert 3 == 4", "tool", "said"),
        ("if err != nil {", "user", "said"),
        ("Errors and fixes:", "user", "said"),
    ],
)
def test_the_form_of_a_quote_is_told_by_its_shape(quote: str, origin: Origin, form: QuoteForm) -> None:
    """Calls, code, markup, headings and announcements are told from what is said; an error that a compiler reports is said."""
    assert read_form(quote, origin) == form
