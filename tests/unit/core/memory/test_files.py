"""Paths and views of memory files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.memory.files import ROOT, FileEntry, read_new_path, read_path, show_edit, show_file, show_folder
from everfold.errors import InvalidInputError


@pytest.mark.parametrize(
    ("given_path", "path"),
    [
        ("/memories", ROOT),
        ("/memories/", ROOT),
        ("/memories//a//b/", "/memories/a/b"),
        ("/memories/é ü", "/memories/é ü"),
    ],
)
def test_a_path_has_one_form(given_path: str, path: str) -> None:
    """Slashes at the end and twice in a row make no other file."""
    assert read_path(given_path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "memories/a", "/memory/a", "/memoriesx/a", "/memories/../etc", "/memories/a/..", "/memories/./a"),
        *("/memories/a\\b", "/memories/a\x00", "/memories/a\nb", "/memories/" + "a" * 81, "/memories" + "/abc" * 60),
        *("/memories/\ud83d", "/memories/\x9b31m"),
    ],
)
def test_what_is_no_path_is_refused(path: str) -> None:
    """A path cannot leave the folder, hide a control character, or grow without end; the error quotes little of it."""
    with pytest.raises(InvalidInputError) as caught:
        read_path(path)
    assert len(str(caught.value)) < 500


@given(st.text(max_size=60))
def test_every_path_that_is_taken_stays_inside(text: str) -> None:
    """Whatever comes in, what is taken begins with the root, and reading it again changes nothing."""
    try:
        path = read_path(f"/memories/{text}")
    except InvalidInputError:
        return
    assert path == ROOT or path.startswith(f"{ROOT}/")
    assert ".." not in path.split("/")
    assert read_path(path) == path


@pytest.mark.parametrize("path", [ROOT, "/memories/topics", "/memories/topics/a.md"])
def test_topics_and_the_root_are_not_written(path: str) -> None:
    """The root is a folder, and topics are only read."""
    with pytest.raises(InvalidInputError):
        read_new_path(path)


def test_a_listing_goes_two_levels_deep() -> None:
    """A folder shows what is in it and one level below, with the sizes of all that lies there; hidden files are left out."""
    entries = [
        FileEntry("/memories/a", 3),
        FileEntry("/memories/b/c", 1024),
        FileEntry("/memories/b/d/e", 512),
        FileEntry("/memories/.hidden", 9),
    ]
    assert show_folder(ROOT, entries).split("\n")[1:] == [
        "1.5K\t/memories",
        "3B\t/memories/a",
        "1.5K\t/memories/b/",
        "1.0K\t/memories/b/c",
        "512B\t/memories/b/d/",
    ]


def test_a_file_is_shown_with_line_numbers() -> None:
    """Lines are numbered from 1 in six characters and a tab; a range gives both its ends, and -1 is the end."""
    header = "Here's the content of /memories/a with line numbers:\n"
    assert show_file("/memories/a", "x\ny") == f"{header}     1\tx\n     2\ty"
    assert show_file("/memories/a", "x\ny\nz", (2, -1)) == f"{header}     2\ty\n     3\tz"
    for wrong in ((0, 1), (2, 1), (1, 4), (4, -1)):
        with pytest.raises(InvalidInputError, match="lines 1 to 3"):
            show_file("/memories/a", "x\ny\nz", wrong)


def test_an_edit_is_shown_with_the_lines_around_it() -> None:
    """Two lines before and after, as far as there are any."""
    assert show_edit("a\nb\nc\nd\ne", 4) == "     2\tb\n     3\tc\n     4\td\n     5\te"
