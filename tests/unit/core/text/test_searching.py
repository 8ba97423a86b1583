from datetime import UTC, datetime, timedelta, timezone

from everfold.core.text.searching import (
    BEFORE_WORDS,
    MAX_TERMS,
    SearchCandidate,
    SearchTerm,
    SearchText,
    choose_terms,
    index_text,
    order_hits,
    part_terms,
    plan_query,
    rank_documents,
)

SAID_AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def _index(text: str, *before: str, speaker: str = "Ann", said_at: datetime = SAID_AT) -> SearchText:
    return index_text(text, speaker=speaker, said_at=said_at, before=before)


def _words(question: str) -> list[str]:
    return [word for term in plan_query(question).terms for word in term.words]


def _candidate(
    key: int, score: float, *, speaker: str = "Ann", role: str = "user", tokens: int = 20
) -> SearchCandidate:
    return SearchCandidate(key=key, score=score, speaker=speaker, role=role, tokens=tokens)


def test_own_text_holds_words_speaker_and_day() -> None:
    """A message is indexed with who said it and when."""
    assert _index("Boats!").own.split() == ["boat", "ann", "mai", "2023", "mondai", "20230508"]


def test_the_day_is_that_of_the_clock_that_the_message_carries() -> None:
    """The message's own offset decides which day it is."""
    late = datetime(2023, 5, 8, 23, 0, tzinfo=timezone(timedelta(hours=-8)))
    assert "20230508" in _index("x", said_at=late).own


def test_before_holds_the_ends_of_the_two_messages_before() -> None:
    """A long reply gives its last words only, and the third message back nothing."""
    text = _index("Yes", "start " + "filler " * 100 + "harbour", "lighthouse", "anchor")
    before = text.before.split()
    assert len(before) == BEFORE_WORDS + 1
    assert {"harbour", "lighthous"} <= set(before)
    assert not {"start", "anchor"} & set(before)


def test_what_follows_a_question_is_found_by_its_words() -> None:
    """A short reply stands above what only comes behind the same words; a message with the words itself above both."""
    asked, told = "Where do you moor the boat?", "We moor the boat."
    texts = [_index("In Whitby.", told), _index("In Whitby.", asked), _index(told), _index("Long. " * 99, asked)]
    ranked = rank_documents(plan_query("moor boat"), [*texts, *[_index("No.")] * 9])
    assert [at for at, _ in ranked] == [2, 1, 0, 3]


def test_without_earlier_messages_before_is_empty() -> None:
    """What no person said has no context row's words."""
    assert _index("exit code 1").before == ""


def test_question_words_and_stop_words_are_dropped() -> None:
    """A question asks for its matter only."""
    assert _words("When did Caroline go to the support group?") == ["carolin", "go", "support", "group"]
    assert _words("How many kinds of boats has he got, and what kind of sail?") == ["kind", "boat", "get", "sail"]


def test_a_question_of_question_words_asks_for_them() -> None:
    """Question words are looked for when nothing else is there."""
    assert _words("Why?") == ["why"]


def test_nothing_to_ask_gives_no_terms() -> None:
    """Blank, punctuation, operators and stop words plan to an empty query."""
    for question in ("", "  ", '"""', "AND * ( ^ : -", "was it of the"):
        assert plan_query(question).terms in {(), plan_query("and").terms}, question


def test_quotes_add_the_phrase() -> None:
    """Quoted words are looked for alone and as a phrase, in straight and curly quotes."""
    for question in ('the "blue heron song" again', "the \u201cblue heron song\u201d again"):
        terms = plan_query(question).terms
        assert SearchTerm(words=("blue", "heron", "song")) in terms
        assert SearchTerm(words=("heron",)) in terms


def test_full_dates_ask_for_the_day() -> None:
    """A date in any common order becomes the day's word of the index."""
    for date in ("May 8, 2023", "8 May 2023", "8th of May 2023", "2023-05-08", "may 8th 2023"):
        assert "20230508" in _words(f"Who called on {date}?"), date


def test_one_cjk_character_is_asked_for_as_a_beginning() -> None:
    """A single character finds the pairs that it begins."""
    assert plan_query("東").terms == (SearchTerm(words=("東",), is_prefix=True),)


def test_the_number_of_terms_is_bounded() -> None:
    """A paste as a question keeps its first terms only, each once."""
    terms = plan_query(" ".join(f"word{number} again" for number in range(500))).terms
    assert len(terms) == len(set(terms)) == MAX_TERMS


def test_common_terms_are_left_out_of_a_long_log() -> None:
    """The rarest terms stay within the bound, in the question's order."""
    query = plan_query("harbour anchor lighthouse")
    counts = {"harbour": 90_000, "anchor": 12, "lighthous": 800}
    kept = choose_terms(query, counts, row_count=100_000)
    assert [term.words[0] for term in kept.terms] == ["anchor", "lighthous"]
    assert choose_terms(query, counts, row_count=1_000_000) == query


def test_the_rarest_term_stays_whatever_it_costs() -> None:
    """A question of one common word is still asked."""
    query = plan_query("harbour")
    assert choose_terms(query, {"harbour": 10**9}, row_count=10).terms == query.terms


def test_a_query_is_parted_by_the_entries_of_its_terms() -> None:
    """The rarest terms that together have at most so many entries are one part, the others the other; nothing is lost."""
    query = plan_query("harbour anchor lighthouse")
    counts = {"harbour": 501, "anchor": 12, "lighthous": 489}
    parts = [part_terms(query, counts, entries_count=count) for count in (500, 501, 11, 10_000)]
    rare = [[term.words[0] for term in one.terms] for one, _ in parts]
    assert rare == [["anchor"], ["anchor", "lighthous"], [], ["harbour", "anchor", "lighthous"]]
    assert all(set(one.terms) | set(other.terms) == set(query.terms) for one, other in parts)
    assert all(set(one.terms).isdisjoint(other.terms) for one, other in parts)


def test_a_named_speaker_rises() -> None:
    """Of two close hits, the one whose speaker the question names comes first."""
    hits = order_hits(plan_query("What did Bob paint?"), [_candidate(1, 5.0), _candidate(2, 4.0, speaker="Bob")])
    assert [hit.key for hit in hits] == [2, 1]


def test_user_words_come_before_machine_output() -> None:
    """Of equal scores, the user's message comes before the assistant's and that before the tool's."""
    roles = ["tool", "assistant", "user"]
    hits = order_hits(plan_query("paint"), [_candidate(at, 5.0, role=role) for at, role in enumerate(roles)])
    assert [hit.role for hit in hits] == ["user", "assistant", "tool"]


def test_long_messages_sink() -> None:
    """A long answer stands behind a short statement that matches a little less, and lengths that people write count alike."""
    sizes = {1: 900, 2: 60, 3: 20, 4: 300}
    hits = order_hits(plan_query("paint"), [_candidate(key, 5.0, tokens=tokens) for key, tokens in sizes.items()])
    assert [hit.key for hit in hits] == [3, 2, 4, 1]
    assert hits[0].score == hits[1].score
    answer = _candidate(1, 5.0, role="assistant", tokens=900)
    short = order_hits(plan_query("paint"), [answer, _candidate(2, 3.0, role="assistant")])
    assert [hit.key for hit in short] == [2, 1]


def test_the_best_of_the_users_messages_does_not_sink() -> None:
    """A paste of the user that the index puts before all else that the user said keeps its place; a second one sinks."""
    pastes = [_candidate(1, 2.0, tokens=4_400), _candidate(2, 1.9, tokens=4_400), _candidate(3, 1.5)]
    assert [hit.key for hit in order_hits(plan_query("paddock"), pastes)] == [1, 3, 2]
    answers = [_candidate(1, 2.0, role="assistant", tokens=4_400), _candidate(3, 1.5)]
    assert [hit.key for hit in order_hits(plan_query("paddock"), answers)] == [3, 1]


def test_equal_hits_come_newest_first() -> None:
    """The higher key wins a tie."""
    assert [hit.key for hit in order_hits(plan_query("x"), [_candidate(1, 2.0), _candidate(9, 2.0)])] == [9, 1]


def test_documents_rank_by_rare_words_and_own_words() -> None:
    """Both words beat one, own words beat those of before, and what matches nothing is not there."""
    documents = [
        _index("Nothing of the kind"),
        _index("The harbour was foggy", "and the weather?"),
        _index("The harbour lighthouse was foggy"),
        _index("Just so", "the harbour lighthouse?"),
        *(_index(f"Filler {number}") for number in range(8)),
    ]
    assert [at for at, _ in rank_documents(plan_query("harbour lighthouse"), documents)] == [2, 3, 1]


def test_short_words_are_not_drowned_by_long_replies() -> None:
    """A user's short statement ranks above a long reply that repeats its words."""
    reply = "About the harbour lighthouse: " + " ".join(f"detail{number}" for number in range(200))
    documents = [_index(reply), _index("The harbour lighthouse, please"), *(_index(f"Filler {n}") for n in range(8))]
    assert [at for at, _ in rank_documents(plan_query("harbour lighthouse"), documents)] == [1, 0]


def test_documents_match_phrases_and_beginnings() -> None:
    """A phrase scores only where its words stand in a row, and a CJK character where it begins a pair."""
    documents = [_index("heron blue song"), _index("blue heron song"), _index("東京に行った"), _index("x"), _index("y")]
    assert rank_documents(plan_query('"blue heron"'), documents)[0][0] == 1
    assert [at for at, _ in rank_documents(plan_query("京"), documents)] == [2]


def test_no_documents_rank_to_nothing() -> None:
    """An empty log has no hits."""
    assert rank_documents(plan_query("x"), []) == []
