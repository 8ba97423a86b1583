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
        ('327\u2192 raise ValueError("no header")', "tool", "listing"),
        ("731-\t// Best effort: do not fail on errors", "tool", "listing"),
        ("src/load.go:88:func readHeader() error {", "tool", "listing"),
        ("src/load.go:90: state.Errors = 0", "tool", "listing"),
        ("src/load.go-663-", "tool", "listing"),
        ('src/load.go-91- log.Warn(ctx, "header failed",', "tool", "listing"),
        ('src/load.go-92- _, err = store.Add("rows.txt")', "tool", "listing"),
        ("738-// loadRows reads the header from", "tool", "listing"),
        ("22-var allRows = []Row{First, Second}", "tool", "listing"),
        ("2026-03-01 the import failed", "tool", "said"),
        ("12-hour clock", "tool", "said"),
        ("12: port 5433", "tool", "code"),
        ('t.Fatalf("load failed: %v", err)', "tool", "code"),
        ("this.picker = new PickerComponent(", "tool", "code"),
        ('","rows_url":"https://example.org/rows', "tool", "code"),
        (r"this.rows[next];\n\t// Check the header", "assistant", "code"),
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
    """Calls, code, listings, markup, headings and announcements are told from what is said; an error that a compiler reports is said."""
    assert read_form(quote, origin) == form
