from everfold.core.text.excerpts import make_excerpt
from everfold.core.text.searching import plan_query

FILLER = "Nothing of interest happened. " * 40


def test_the_excerpt_shows_the_densest_stretch() -> None:
    """Of several places, the one with most different words of the query is shown."""
    text = f"A harbour. {FILLER}The lighthouse by the harbour was painted. {FILLER}A harbour, harbour, harbour."
    excerpt = make_excerpt(text, plan_query("painted lighthouse harbour"))
    assert "lighthouse by the harbour was painted" in excerpt.text


def test_matches_are_marked_where_they_stand() -> None:
    """Each mark is a word of the query, inflected or not, in positions of the whole text."""
    text = FILLER + "We were painting getUserById on 東京 paper."
    excerpt = make_excerpt(text, plan_query("paint getUserById 東京"))
    assert [text[start:end] for start, end in excerpt.matches] == ["painting", "getUserById", "東京", "京"]


def test_without_a_match_the_beginning_is_shown() -> None:
    """A message that was found by what stood before it shows how it begins."""
    excerpt = make_excerpt(FILLER, plan_query("lighthouse"), max_chars=50)
    assert (excerpt.start, excerpt.end, excerpt.matches) == (0, 50, ())


def test_a_short_text_is_shown_whole() -> None:
    """Nothing is cut that fits."""
    assert make_excerpt("A harbour.", plan_query("harbour")).text == "A harbour."


def test_a_word_longer_than_the_excerpt_is_cut() -> None:
    """The bound holds even inside one word."""
    assert make_excerpt("q" * 500, plan_query("q" * 500), max_chars=20).text == "q" * 20


def test_an_empty_text_gives_an_empty_excerpt() -> None:
    """Nothing has nothing to show."""
    assert make_excerpt("", plan_query("harbour")).text == ""
