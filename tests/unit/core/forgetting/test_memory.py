"""What an erase makes of items, topics and dreams: nothing of the erased words, and all of the others."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.extraction.answers import join_answer
from everfold.core.forgetting.memory import Gone, Past, forget_quotes, plan_forgetting, read_gone_words, scrub_dream
from everfold.core.memory.items import Evidence, Item, ItemId
from everfold.core.memory.topics import DreamState, Topic, TopicStatus
from everfold.core.primitives.ids import SessionId
from everfold.testing.kit.builders import minute
from everfold.testing.kit.memory_builders import dream, evidence, item, topic

NEEDLE = "zugzwang"
SES = SessionId("ses_1")
NOW = minute(500)
PLAIN = st.sampled_from(["The berth is dear.", "My boat has two masts.", "Noon it is \ud83d.", "会議は明日。"])
SEQS = st.integers(1, 6)


def clean(_text: str) -> tuple[str, ...]:
    """A scan that finds nothing."""
    return ()


@st.composite
def st_revisions(draw: st.DrawFn) -> tuple[list[Item], Gone]:
    """Revisions of one item whose quotes of erased messages, and only they, hold the needle."""
    erased = draw(st.sets(SEQS, min_size=1, max_size=3))
    seqs = draw(st.lists(SEQS, min_size=1, max_size=4, unique=True))
    quotes = [evidence(_say(draw, seq in erased), seq=seq) for seq in seqs]
    revisions: list[Item] = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        kept = quotes[: draw(st.integers(1, len(quotes)))]
        made = item("itm_1", draw(st.sampled_from(kept)).quote, *kept, revision=number)
        revisions.append(replace(made, status=draw(st.sampled_from(["active", "superseded", "expired"]))))
    gone = Gone(messages=frozenset((SES, seq) for seq in erased), words=frozenset((NEEDLE,)))
    return revisions, gone


def _say(draw: st.DrawFn, is_erased: bool) -> str:  # noqa: FBT001  (a fact about the quote, of this test alone)
    text = draw(PLAIN)
    return f"{text} {NEEDLE}" if is_erased else text


@given(st_revisions())
def test_an_item_keeps_what_others_say_and_nothing_else(drawn: tuple[list[Item], Gone]) -> None:
    """No quote and no word of what is erased is left; with other evidence the item stays as it stood, else it is erased."""
    revisions, gone = drawn
    left = {one for revision in revisions for one in revision.evidence if not gone.holds(one)}
    new = forget_quotes(revisions, gone, now=NOW)
    assert new.revision == revisions[-1].revision + 1
    assert NEEDLE not in str(new)
    assert set(new.evidence) <= left
    assert (new.status == "erased") == (not left)
    if left:
        assert new.status == revisions[-1].status
        assert new.statement in {one.quote for one in left}
    else:
        assert (new.statement, new.identity, new.evidence) == ("", "", ())


def test_what_was_entered_by_hand_long_ago_stays() -> None:
    """An item whose first revision quotes nothing was entered by hand, also where no revision says so yet."""
    entered, said = item("itm_1"), item("itm_1", "The berth costs 17 euros.", evidence("17 euros"), revision=2)
    new = forget_quotes([entered, said], Gone(messages=frozenset({(SES, 1)})), now=NOW)
    again = forget_quotes([replace(new, evidence=said.evidence)], Gone(messages=frozenset({(SES, 1)})), now=NOW)
    assert [(one.status, one.statement, one.evidence) for one in (new, again)] == [("active", said.statement, ())] * 2


@pytest.mark.parametrize("answer", ["Bergen.", "A+"])
def test_a_question_alone_answers_nothing(answer: str) -> None:
    """An item of a question and its answer goes with the answer, also where the question has its words, or it has none."""
    question = "Which city do you live in, still Bergen?"
    said = (evidence(question, seq=1, origin="assistant"), evidence(answer, seq=2))
    joined = item("itm_1", join_answer(question, answer), *said)
    lost = Gone(messages=frozenset({(SES, 2)}), words=read_gone_words([answer]))
    assert forget_quotes([joined], lost, now=NOW).status == "erased"
    assert forget_quotes([joined], Gone(messages=frozenset({(SES, 1)})), now=NOW).status == "active"


@given(st_revisions(), st.booleans(), st.sampled_from(["active", "superseded"]))
def test_topics_and_dreams_lose_the_words(drawn: tuple[list[Item], Gone], has_prose: object, status: str) -> None:
    """A topic that drew on the item, or tells its words in prose, and every dream's copy of it, hold none of them."""
    revisions, gone = drawn
    other = item("itm_2", "The crane is blue.")
    told = topic("top_1", f"{NEEDLE}_boat", content=f"They spoke of the {NEEDLE}." if has_prose else "- a line")
    told = replace(told, sources=(revisions[0].id, other.id), status="active" if status == "active" else "superseded")
    by_words = replace(topic("top_2", content=f"Prose on a {NEEDLE}."), sources=(other.id,))
    untouched = replace(topic("top_3", content="The crane is blue."), sources=(other.id,))
    proposed = replace(dream("drm_2", told), state="proposed", problem=f"mended {NEEDLE}")
    past = Past(
        topics=tuple((replace(one, revision=1), replace(one, revision=2)) for one in (told, by_words, untouched)),
        dreams=(dream("drm_1", told, untouched), proposed, dream("drm_3", untouched)),
        sources={other.id: other},
    )
    new = forget_quotes(revisions, gone, now=NOW)
    assert set(past.list_wanted([new.id], gone.words)) >= {other.id}
    forgotten = plan_forgetting([new], gone, past, now=NOW, scan=clean)
    assert NEEDLE not in str(forgotten)
    assert {one.id for one in forgotten.topics} == {"top_1", "top_2"}
    rebuilt = {one.id: one for one in forgotten.topics}
    assert "The crane is blue." in rebuilt[by_words.id].content
    assert rebuilt[told.id].status == ("active" if status == "active" else "erased")
    assert {one.id: (one.state, len(one.topics)) for one in forgotten.dreams} == {
        "drm_1": ("applied", 1),
        "drm_2": ("failed", 0),
    }


def test_a_topic_without_items_is_erased() -> None:
    """Where nothing is left to make a topic of, neither text nor name is left of it."""
    gone_item = item("itm_1", NEEDLE, evidence(NEEDLE))
    gone = Gone(messages=frozenset({(SES, 1)}), words=read_gone_words([NEEDLE]))
    new = forget_quotes([gone_item], gone, now=NOW)
    past = Past(topics=((topic("top_1", NEEDLE),),))
    (erased,) = plan_forgetting([new], gone, past, now=NOW, scan=clean).topics
    assert (erased.status, erased.name, erased.summary, erased.content, erased.sources) == ("erased", "", "", "", ())


def test_a_renamed_topic_takes_no_name_that_is_there() -> None:
    """A topic whose name told erased words gets a free one."""
    left, lost = item("itm_2", "The crane."), item("itm_1", NEEDLE, evidence(NEEDLE))
    gone = Gone(messages=frozenset({(SES, 1)}), words=read_gone_words([NEEDLE]))
    told = replace(topic("top_1", NEEDLE), sources=(lost.id, left.id))
    past = Past(topics=((told,), (replace(topic("top_2", "general"), sources=()),)), sources={left.id: left})
    (renamed,) = plan_forgetting([forget_quotes([lost], gone, now=NOW)], gone, past, now=NOW, scan=clean).topics
    assert (renamed.name, renamed.status) == ("general_2031_03", "active")


@pytest.mark.parametrize("status", ["active", "expired"])
def test_a_name_alone_is_read_too(status: TopicStatus) -> None:
    """Where only the name tells erased words that its dream was given, nothing keeps them, and text and status stay."""
    left, lost = item("itm_2", "The crane is blue."), item("itm_1", NEEDLE, evidence(NEEDLE))
    gone = Gone(messages=frozenset({(SES, 1)}), words=read_gone_words([NEEDLE]))
    told = replace(topic("top_1", f"{NEEDLE}_crane", content="Prose on the crane."), sources=(left.id,), status=status)
    plain = replace(topic("top_2", "crane", content="Prose on the crane."), sources=(left.id,))
    dreamt = replace(dream("drm_1", told, plain), state="rejected", items=(lost.id, left.id))
    past = Past(topics=((told,), (plain,)), dreams=(dreamt,))
    past = replace(past, sources=dict.fromkeys(past.list_wanted([lost.id], gone.words), left))
    forgotten = plan_forgetting([forget_quotes([lost], gone, now=NOW)], gone, past, now=NOW, scan=clean)
    assert [(one.name, one.content, one.status) for one in forgotten.topics] == [("general", told.content, status)]
    assert [one.topics for one in forgotten.dreams] == [(plain,)]


@pytest.mark.parametrize("status", ["active", "expired"])
def test_a_shared_word_makes_no_name(status: TopicStatus) -> None:
    """A topic that was made of nothing that is erased keeps its name, in dreams too, whatever word of it the message has."""
    left, lost = item("itm_2", "You fly to Rome."), item("itm_1", "The bike trip.", evidence("The bike trip."))
    gone = Gone(messages=frozenset({(SES, 1)}), words=read_gone_words(["The bike trip."]))
    told = replace(topic("top_1", "rome_trip", content="You fly to Rome."), sources=(left.id,), status=status)
    given = replace(dream("drm_1", told), items=(left.id,))
    past = Past(topics=((told,),), dreams=(given,), sources={left.id: left})
    forgotten = plan_forgetting([forget_quotes([lost], gone, now=NOW)], gone, past, now=NOW, scan=clean)
    assert (forgotten.topics, forgotten.dreams) == ((), ())


def test_an_old_name_goes_with_what_it_was_made_of() -> None:
    """A topic that is made of other items by now loses the name that it has from an erased one."""
    left, lost = item("itm_2", "The crane is blue."), item("itm_1", NEEDLE, evidence(NEEDLE))
    gone = Gone(messages=frozenset({(SES, 1)}), words=read_gone_words([NEEDLE]))
    now = replace(topic("top_1", NEEDLE, content="- a line"), sources=(left.id,))
    past = Past(topics=((replace(now, sources=(lost.id,)), replace(now, revision=2)),))
    new = forget_quotes([lost], gone, now=NOW)
    past = replace(past, sources={left.id: left})
    assert past.list_wanted([new.id], gone.words) == [lost.id, left.id]
    (renamed,) = plan_forgetting([new], gone, past, now=NOW, scan=clean).topics
    assert (renamed.name, renamed.content) == ("general", now.content)


@pytest.mark.parametrize("name", ["health", "general_%Y_%m", "from_outside", "crane_%Y_%m_%d"])
def test_a_name_that_no_words_gave_stays(name: str) -> None:
    """An area's name, and the time of a topic's items in its name, are of no message, whatever was erased."""
    left = item("itm_2", "The crane is blue.")
    words = read_gone_words(["Health, general plans from outside:", f"{left.valid_from:%Y %m %d}"])
    told = replace(topic("top_1", f"{left.valid_from:{name}}", content="- a line"), sources=(left.id,))
    past = Past(topics=((told,),), sources={left.id: left})
    gone = Gone(messages=frozenset({(SES, 1)}), words=words)
    assert plan_forgetting([], gone, past, now=NOW, scan=clean).topics == ()


def test_what_was_superseded_is_named_and_not_revived() -> None:
    """An erased correction names the items that stay superseded; no revision of them is among those written."""
    newer = replace(item("itm_3", NEEDLE, evidence(NEEDLE)), supersedes=ItemId("itm_1"))
    older = [replace(item(id_, status="superseded"), superseded_by=newer.id) for id_ in ("itm_1", "itm_2")]
    past = Past(superseded=(*older, replace(item("itm_0", status="superseded"), superseded_by=ItemId("itm_4"))))
    gone = Gone(messages=frozenset({(SES, 1)}))
    new = forget_quotes([newer], gone, now=NOW)
    forgotten = plan_forgetting([new], gone, past, now=NOW, scan=clean)
    assert forgotten.superseded == ("itm_1", "itm_2")
    assert [one.id for one in forgotten.items] == ["itm_3"]


@given(st.sets(SEQS), st.booleans(), SEQS)
def test_what_is_gone_is_told_by_its_place(seqs: set[int], is_session: object, seq: int) -> None:
    """A quote is gone where its message, or the whole session that stores it, is; never one of another session."""
    gone = Gone(
        messages=frozenset((SES, one) for one in seqs), sessions=frozenset({SES}) if is_session else frozenset()
    )
    quote: Evidence = evidence("x", seq=seq)
    assert gone.holds(quote) == (bool(is_session) or seq in seqs)
    assert not gone.holds(quote._replace(session_id=SessionId("ses_2")))


def test_a_scan_hit_quarantines_a_rebuilt_topic() -> None:
    """What is made again is scanned as if it were new."""
    left, lost = item("itm_2", "The crane."), item("itm_1", NEEDLE, evidence(NEEDLE))
    told: Topic = replace(topic("top_1"), sources=(lost.id, left.id))
    gone = Gone(messages=frozenset({(SES, 1)}))
    past = Past(topics=((told,),), sources={left.id: left})
    forgotten = plan_forgetting(
        [forget_quotes([lost], gone, now=NOW)], gone, past, now=NOW, scan=lambda text: ("odd",) if "\n" in text else ()
    )
    assert [(one.status, one.threats) for one in forgotten.topics] == [("quarantined", ("odd",))]


@pytest.mark.parametrize("state", ["applied", "rejected", "reverted", "failed"])
def test_a_judged_dream_keeps_its_state(state: DreamState) -> None:
    """Only a proposal is dropped; what was judged keeps its state and what is left of it."""
    judged = replace(dream("drm_1", topic("top_1")), state=state, problem="x")
    assert scrub_dream(judged, (), now=NOW).state == state
