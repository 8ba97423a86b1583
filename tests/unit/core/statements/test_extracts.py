from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import QUOTE_CHARS, ExtractLine, from_json, to_json
from everfold.core.statements.kinds import EXPLICIT
from everfold.core.statements.reading import SCAN_CHARS, find_extract_lines
from everfold.core.statements.strengths import measure_line
from everfold.errors import InvalidInputError

_SAID_AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def _find(text: str, origin: Origin = "user", *, is_result: bool = False) -> tuple[ExtractLine, ...]:
    return find_extract_lines(text, seq=7, origin=origin, is_result=is_result, said_at=_SAID_AT)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never deploy on a Friday.", "constraint"),
        ("I prefer trains to planes.", "preference"),
        ("We decided to use SQLite.", "decision"),
        ("Actually make it 12 guests, not 10.", "correction"),
        ("Remember that my sister is vegan.", "remember"),
        ("My name is Ines.", "identity"),
    ],
)
def test_a_binding_statement_of_the_user_is_standing(text: str, kind: str) -> None:
    """What a user says that binds beyond its moment is noted as standing, with its kind."""
    (line,) = _find(text)
    assert (line.kind, line.standing, line.quote) == (kind, True, text)


@pytest.mark.parametrize(
    "text",
    [
        "1) never share the key",
        "(b) never share the key",
        "**Never** share the key.",
        "__Never__ share the *key*.",
        "`never` share the key",
        "And never share the key.",
        "Oh, and never share the key.",
        "Never, ever, share the key.",
        "Never share the key, ok?",
        "Remember this: the key is under the mat.",
    ],
)
def test_a_plain_rule_is_found_whatever_stands_around_it(text: str) -> None:
    """Marks of a list and of emphasis, a joint to what was said before and a tag leave a rule as strong as it is."""
    (line,) = _find(text)
    assert line.standing
    assert measure_line(line) == EXPLICIT


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("- **Note:** never call before ten.", "**Note:** never call before ten."),
        ("Never answer in **French**", "Never answer in **French**"),
        ("**Never share the key.**", "Never share the key."),
        ("* Never share the key.", "Never share the key."),
    ],
)
def test_a_quote_holds_both_ends_of_an_emphasis_or_none(text: str, quote: str) -> None:
    """The marks of an emphasis stand in a quote with their partners; a mark of a list does not stand in it."""
    (line,) = _find(text)
    assert line.quote == quote


@pytest.mark.parametrize(
    "text", ["And be there for each other.", "They are upset about every move you make.", "Never say never!"]
)
def test_a_saying_that_binds_nobody_is_no_explicit_rule(text: str) -> None:
    """A saying with the words of a rule, which orders nothing, does not stand as one."""
    assert not [line for line in _find(text) if measure_line(line) == EXPLICIT]


@pytest.mark.parametrize("origin", ["assistant", "tool", "external", "system"])
def test_only_the_user_makes_standing_statements(origin: Origin) -> None:
    """The same words from any other origin never become standing."""
    assert not any(line.standing for line in _find("Never deploy on a Friday. My name is Ines.", origin))


@pytest.mark.parametrize(
    "text", ["Never mind.", "I love it", "You must be joking.", "Do you always do this?", "I can't wait!"]
)
def test_idioms_and_questions_do_not_bind(text: str) -> None:
    """Idioms that look like a rule or a preference are not standing."""
    assert not any(line.standing for line in _find(text))


@pytest.mark.parametrize("text", ["ok", "👍", "…", "これはペンです。", "\ud800", "{}", ".", ">-*", "\x1c.", "a" * 5000])
@pytest.mark.parametrize("origin", ["user", "tool"])
def test_every_text_that_is_not_blank_yields_a_line(text: str, origin: Origin) -> None:
    """A digest can name each message that holds anything at all."""
    lines = _find(text, origin)
    assert lines
    assert all(text[line.start : line.start + len(line.quote)] == line.quote != "" for line in lines)


def test_blank_texts_yield_nothing() -> None:
    """There is nothing to quote in a blank text."""
    assert _find("") == _find(" \n\t") == ()


def test_a_long_sentence_gives_a_window_around_what_matters() -> None:
    """A quote is bounded, and still holds the identifier for which it was chosen."""
    text = "and so it went on " * 60 + "until ticket QX81TB was closed " + "and then it went on " * 60
    lines = _find(text)
    best = max(lines, key=lambda line: line.score)
    assert "QX81TB" in best.quote
    assert all(len(line.quote) <= QUOTE_CHARS for line in lines)


def test_a_long_text_is_scanned_at_both_ends() -> None:
    """An error at the end of a megabyte of output is noted, and the number of lines stays bounded."""
    text = "INFO tick 12:00:01 ok\n" * 50_000 + "FATAL: disk quota exceeded on volume 9\n"
    lines = _find(text, "tool", is_result=True)
    assert len(lines) <= 24
    assert any("disk quota" in line.quote for line in lines)


@given(st.integers(min_value=0, max_value=60_000), st.sampled_from(["user", "tool"]))
def test_of_a_long_text_its_ends_are_read_and_nothing_else(at: int, origin: Origin) -> None:
    """What stands within 20,000 characters of an end of a long text is noted where it stands, what stands between is not."""
    told = "Error: disk X77 failed."
    length = 60_000 + len(told)
    filler = "so it went on and on\n" * 3_000
    text = (filler[:at] + "\n" + told + "\n" + filler)[:length]
    lines = _find(text, origin, is_result=origin == "tool")
    assert all(text[line.start : line.start + len(line.quote)] == line.quote for line in lines)
    is_noted = any("X77" in line.quote for line in lines)
    if at + 1 + len(told) <= SCAN_CHARS or at + 1 >= length - SCAN_CHARS:
        assert is_noted
    elif at + 1 >= SCAN_CHARS and at + 1 + len(told) <= length - SCAN_CHARS:
        assert not is_noted


def test_errors_outrank_progress_in_a_result() -> None:
    """The line that reports a failure has the highest score of a tool's output."""
    text = "collecting\nrunning step 14 of 90\nValueError: bad token at line 3\nwrote out/report.txt\n"
    best = max(_find(text, "tool", is_result=True), key=lambda line: line.score)
    assert (best.kind, best.quote) == ("error", "ValueError: bad token at line 3")


def test_json_gives_exact_windows_of_pairs() -> None:
    """The ids, amounts and states of a JSON result are noted as exact substrings."""
    text = '{"order": {"order_id": "W4417902", "status": "shipped"}, "items": [{"sku": "KX-7", "price": 41.5}], "note": null}'
    lines = _find(text, "tool", is_result=True)
    shown = " ".join(line.quote for line in lines)
    assert all(fact in shown for fact in ("W4417902", "shipped", "KX-7", "41.5"))
    assert all(text[line.start :].startswith(line.quote) for line in lines)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Important: wherever we stay needs to have a kitchen.", "constraint"),
        ("Leo has a severe peanut allergy.", "identity"),
        ("Anna is diabetic.", "identity"),
        ("He's hard of hearing, so please knock loudly.", "identity"),
        ("By the way I got the budget wrong, it's 3,500.", "correction"),
        ("Hmm, 5 retries is too much, the gateway gives up.", "correction"),
        ("Oh wait, no, the 14th.", "correction"),
        ("Her texts come on the 12th instead of the 5th.", "correction"),
        ("Good idea, let's drop the animated header.", "decision"),
        ("Let's aim for 9 March.", "decision"),
        ("So no tracking before consent, period.", "constraint"),
    ],
)
def test_what_a_careful_person_would_note_is_standing(text: str, kind: str) -> None:
    """What is called important, what a person cannot bear, and a slip that is put right bind beyond their moment."""
    assert [(line.kind, line.standing) for line in _find(text)] == [(kind, True)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Die Heizkosten müssen nach Verbrauch abgerechnet werden.", "constraint"),
        ("Ich möchte auf keinen Fall, dass die Gebühren darauf stehen.", "constraint"),
        ("Er darf hier nicht parken.", "constraint"),
        ("Ich heiße Jörg Petersen.", "identity"),
        ("Il ne faut surtout pas que ce soit au rez-de-chaussée.", "constraint"),
        ("Je ne veux pas payer de frais.", "constraint"),
        ("Elle préfère avoir une vraie cuisine.", "preference"),
        ("Je m'appelle Claire Dubois.", "identity"),
        ("No quiero música en directo.", "constraint"),
        ("Tiene que ser el sábado.", "constraint"),
        ("Hola, soy Lucía Ferrer.", "identity"),
        ("Non voglio arrivare dopo le nove.", "constraint"),
        ("Não quero carne.", "constraint"),
        ("Ik wil geen vlees.", "constraint"),
        ("Non possiamo spendere più di 220 euro.", "constraint"),
        ("Wir können nicht mehr als 300 Euro ausgeben.", "constraint"),
        ("Звоните только после 18:00.", "constraint"),
        ("Ой, я ошиблась, день рождения 15 мая, а не 14.", "correction"),  # noqa: RUF001 - Russian
        ("Мы решили ехать поездом.", "decision"),
        ("У сына аллергия на орехи.", "identity"),  # noqa: RUF001 - Russian
    ],
)
def test_plain_rules_of_other_languages_are_standing(text: str, kind: str) -> None:
    """What must or must not be, and who speaks, is noted in seven more languages."""
    assert [(line.kind, line.standing) for line in _find(text)] == [(kind, True)]


@pytest.mark.parametrize(
    "text",
    [
        "Das muss schön gewesen sein.",
        "Ich muss noch einkaufen.",
        "Darf ich dich was fragen?",
        "Ich will nicht stören.",
        "Faut-il un meublé ?",
        "¡No puede ser!",
        "Me gusta.",
        "Soy feliz.",
    ],
)
def test_idioms_of_other_languages_do_not_bind(text: str) -> None:
    """A guess, a plan, a courtesy, a question and an exclamation with the same words are not standing."""
    assert not any(line.standing for line in _find(text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("记住她对青霉素过敏。", "remember"),
        ("不对,改成6月15日吧。", "correction"),
        ("我们决定打车去。", "decision"),
        ("不要打给我妈妈。", "constraint"),
        ("她更喜欢女医生。", "preference"),
        ("我叫王丽华。", "identity"),
        ("必ず金曜日までに送ってください。", "constraint"),
        ("会議は3月14日ではなく、3月15日です。", "correction"),
        ("금요일에 배포하지 마세요.", "constraint"),
        ("저는 해산물 알레르기가 있어요.", "identity"),
    ],
)
def test_plain_rules_of_scripts_without_blanks_are_standing(text: str, kind: str) -> None:
    """What binds in Chinese, Japanese and Korean is noted although no blank tells its words."""
    assert [(line.kind, line.standing) for line in _find(text)] == [(kind, True)]
    assert not any(line.standing for line in _find(text, "assistant"))


@pytest.mark.parametrize(
    "text", ["能不能告诉我\uff1f", "你喜欢吗\uff1f", "不要紧\uff0c没关系。", "これはペンです。", "明日来ますか。"]
)
def test_questions_and_courtesies_of_such_scripts_do_not_bind(text: str) -> None:
    """A question and a courtesy with the same characters are not standing."""
    assert not any(line.standing for line in _find(text))


def test_facts_of_scripts_without_blanks_are_found() -> None:
    """A price, a number and an address are found though no blank stands before them, and no sentence is dropped for being short."""
    text = "套餐价格是1280元,大约两个半小时。已预约上午8:00,预约号是ZJ20260612。报告请发到lihua@example.cn。"
    assert [line.kind for line in _find(text, "assistant")] == ["number", "identifier", "identifier"]


@pytest.mark.parametrize(
    "text",
    [
        "No that's all.",
        "No, that's it.",
        "No it's great!",
        "Wait, sorry for the delay.",
        "Sorry, no idea.",
        "Something is wrong: the checkout asks for a second name.",
        "Hold on, sorry, phone.",
        "3 hours is too long to wait for a bus.",
        "Let's drop by later.",
    ],
)
def test_a_closing_or_an_excuse_takes_nothing_back(text: str) -> None:
    """That there is nothing more to say, an excuse and a sigh are not standing."""
    assert not any(line.standing for line in _find(text))


@pytest.mark.parametrize("number", ["555-123-4567", "8-916-123-45-67", "+491701234567", "+49-170-1234-567"])
def test_a_phone_number_is_an_identifier(number: str) -> None:
    """Groups of digits with hyphens, and digits behind a plus, are kept like any other number that names something."""
    assert [line.kind for line in _find(f"The porter answers {number}.", "assistant")] == ["identifier"]
    assert [line.kind for line in _find(f"porter {number}", "tool", is_result=True)] == ["identifier"]


@pytest.mark.parametrize("text", ["It opens on 2024-05-25.", "Chapters 5-6 and 1-2-3."])
def test_a_day_and_a_span_are_no_phone_number(text: str) -> None:
    """A date keeps its kind, and short digits with hyphens are nothing."""
    assert "identifier" not in [line.kind for line in _find(text, "assistant")]


def test_who_is_ill_promises_nothing() -> None:
    """The word ill is not the shortened "I will" where no verb follows."""
    assert [line.kind for line in _find("Petra is ill this week.")] == ["date"]
    assert [line.kind for line in _find("ill send it tomorrow")] == ["commitment"]


@pytest.mark.parametrize(
    "text",
    [
        "Das Schreiben muss bis zum 31. Dezember beim Mieter sein.",
        "Wir treffen uns am 3. Mai um 9 Uhr, ca. 20 Personen.",
        "Vi ses den 1. maj klokken 9.",
    ],
)
def test_a_day_of_a_month_does_not_end_a_sentence(text: str) -> None:
    """Where a day is written with a full stop, its sentence is quoted whole."""
    assert [line.quote for line in _find(text)] == [text]


def test_a_number_ends_a_sentence_before_a_name() -> None:
    """A full stop behind a number ends a sentence unless the name of a month follows."""
    assert len(_find("My brother turned 31. Martin, his best friend, is 28.")) == 2


def test_abbreviations_and_decimals_do_not_end_a_sentence() -> None:
    """A sentence stays whole across a title and a decimal point."""
    text = "We paid Dr. Amsel 41.50 euros."
    assert [line.quote for line in _find(text)] == [text]


def test_a_line_survives_its_column() -> None:
    """What a column holds of a line reads back equal."""
    lines = _find("Never deploy on a Friday. The gate code is 4471. I need to oil the hinges.")
    assert {(line.standing, line.lasting) for line in lines} == {(True, True), (False, False), (False, True)}
    for line in lines:
        assert from_json(to_json(line, "user"), seq=7, origin="user", said_at=_SAID_AT) == line


def test_a_column_names_only_an_origin_that_is_not_the_message_s() -> None:
    """A line of another origin than its message says so in a sixth column; of the same, it has five."""
    (line,) = _find("The gate code is 4471.")
    assert to_json(line, "tool") == [*to_json(line, "user"), "user"]
    assert len(to_json(line, "user")) == 5


@pytest.mark.parametrize("value", [None, [], [99, 1, 0, "x", 0], [0, 1, 0, 5, 0], {"kind": 0}])
def test_a_broken_column_is_refused(value: object) -> None:
    """A column that holds no line raises our error and names its message."""
    with pytest.raises(InvalidInputError) as caught:
        from_json(value, seq=7, origin="user", said_at=_SAID_AT)
    assert caught.value.ids == {"seq": 7}


def test_an_error_in_a_long_table_is_a_line() -> None:
    """Of a table of output not every row is judged, but a row that tells of an error is, wherever it stands."""
    rows = [f"ORD-{10_000 + row} | crate {row} | 4.50" for row in range(90)]
    rows[41] = "ORD-77041 | crate 41 | refused: payment failed"
    lines = _find("\n".join(rows), "tool", is_result=True)
    assert [line.quote for line in lines if line.kind == "error"] == [rows[41]]


@pytest.mark.parametrize("note", ["paid", "paid in two parts, the second of them " * 6])
@pytest.mark.parametrize("rows_count", [9, 13, 20, 29, 60, 400])
def test_a_long_table_gives_as_many_lines_as_are_kept_of_any_text(rows_count: int, note: str) -> None:
    """Not every row of a table is judged, and yet there are as many lines of it as a text of its length may give."""
    text = "\n".join(f"ORD-{row:05} | {note}" for row in range(rows_count))
    lines = _find(text, "tool", is_result=True)
    assert len(lines) == min(rows_count, 24, 12 + len(text) // 1_500)
