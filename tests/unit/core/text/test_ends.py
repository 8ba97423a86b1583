"""Until when a statement holds, by its own words."""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from everfold.core.text.ends import find_end, read_ends_ahead
from everfold.core.text.patterns import compile_pattern

MONDAY = datetime(2031, 3, 3, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("I am in Berlin until Friday.", (2031, 3, 7)),
        ("I am on holiday from 5 March to 9 March.", (2031, 3, 9)),
        ("I am on holiday from March 5 through March 9, 2031.", (2031, 3, 9)),
        ("I'm away 5-9 March.", (2031, 3, 9)),
        ("Remember: the guest stays until 6 March 2031.", (2031, 3, 6)),
        ("The guest stays until 2031-03-06.", (2031, 3, 6)),
        ("My meeting tomorrow is at 9.", (2031, 3, 4)),
        ("I work from home today.", (2031, 3, 3)),
        ("Never call me this week.", (2031, 3, 9)),
        ("Don't book anything next week.", (2031, 3, 16)),
        ("We stay at the lake this weekend.", (2031, 3, 9)),
        ("I'm on call until tomorrow.", (2031, 3, 4)),
        ("The pool is closed until the end of March.", (2031, 3, 31)),
        ("The pool is closed until May.", (2031, 5, 31)),
        ("The lease runs until 2033.", (2033, 12, 31)),
        ("Use the old server till next Friday.", (2031, 3, 14)),
        ("Don't call me for the next 3 days.", (2031, 3, 6)),
        ("No deploys this month.", (2031, 3, 31)),
        ("The house is let until 6 November.", (2031, 11, 6)),
        ("Ich bin bis Freitag in Berlin.", (2031, 3, 7)),
        ("Ich bin vom 5. März bis zum 9. März im Urlaub.", (2031, 3, 9)),
        ("Bitte ruf mich diese Woche nie an.", (2031, 3, 9)),
        ("Je suis à Lyon jusqu'au 6 mars.", (2031, 3, 6)),
        ("Je suis en congé du 5 au 9 mars.", (2031, 3, 9)),
        ("Estoy en Sevilla hasta el 6 de marzo.", (2031, 3, 6)),
        ("Sono a Torino fino al 6 marzo.", (2031, 3, 6)),
        ("Ik ben tot vrijdag in Gent.", (2031, 3, 7)),
        ("Estou em Lisboa até 6 de março.", (2031, 3, 6)),
        ("I am away for two weeks.", (2031, 3, 17)),
        ("Use the old printer for the rest of the month.", (2031, 3, 31)),
        ("I am out of office until the end of the week.", (2031, 3, 9)),
        ("Ich habe vom 5. bis 9. März Urlaub.", (2031, 3, 9)),
        ("Ich bin zwei Wochen in Rom.", (2031, 3, 17)),
        ("Morgen habe ich ein Treffen um 9.", (2031, 3, 4)),
        ("Je suis à Rome pendant deux semaines.", (2031, 3, 17)),
        ("Demain j'ai une réunion à 9 h.", (2031, 3, 4)),
        ("Estoy en Roma durante dos semanas.", (2031, 3, 17)),
        ("Sono a Roma per due settimane.", (2031, 3, 17)),
        ("Ik heb vakantie van 5 tot 9 maart.", (2031, 3, 9)),
        ("Ik ben twee weken in Rome.", (2031, 3, 17)),
        ("Estou em Lisboa até sexta.", (2031, 3, 7)),
        ("Я в Москве до пятницы.", (2031, 3, 7)),
        ("Я в отпуске с 5 по 9 марта.", (2031, 3, 9)),
        ("На этой неделе меня нет.", (2031, 3, 9)),
        ("我在北京待到周五。", (2031, 3, 7)),
        ("我这周不在。", (2031, 3, 9)),
        ("3月9日まで東京にいます。", (2031, 3, 9)),
        ("今週は休みです。", (2031, 3, 9)),
        ("금요일까지 서울에 있어요.", (2031, 3, 7)),
        ("이번 달은 재택근무입니다.", (2031, 3, 31)),
        ("I'm on holiday from Monday to Wednesday.", (2031, 3, 12)),
        ("I am away next Monday through Wednesday.", (2031, 3, 12)),
        ("I have guests from Friday to Sunday.", (2031, 3, 9)),
        ("Ich bin von Montag bis Mittwoch im Urlaub.", (2031, 3, 12)),
        ("Je suis en vacances du lundi au mercredi.", (2031, 3, 12)),
        ("Estoy de vacaciones de lunes a miércoles.", (2031, 3, 12)),
        ("Sono in ferie da lunedì a mercoledì.", (2031, 3, 12)),
        ("Ik ben van maandag tot woensdag op reis.", (2031, 3, 12)),
        ("Estou de férias de segunda a quarta.", (2031, 3, 12)),
        ("Я в отпуске с понедельника по среду.", (2031, 3, 12)),
        ("No meetings for the rest of the day.", (2031, 3, 3)),
        ("Keine Anrufe für den Rest des Tages.", (2031, 3, 3)),
        ("Je ne suis pas là pour le reste de la journée.", (2031, 3, 3)),
        ("No estoy por el resto del día.", (2031, 3, 3)),
        ("Non ci sono per il resto della giornata.", (2031, 3, 3)),
        ("Ik ben weg voor de rest van de dag.", (2031, 3, 3)),
        ("Estou fora pelo resto do dia.", (2031, 3, 3)),
        ("I am offline for the next couple of days.", (2031, 3, 6)),
        ("I'm in Rome the next couple of days.", (2031, 3, 6)),
        ("Don't call me for the next few days.", (2031, 3, 8)),
        ("Die nächsten paar Tage bin ich in Rom.", (2031, 3, 6)),
        ("Ich bin in den nächsten Tagen in Rom.", (2031, 3, 8)),
        ("Les prochains jours je suis à Rome.", (2031, 3, 8)),
        ("Los próximos días estoy en Roma.", (2031, 3, 8)),
        ("I prossimi giorni sono a Roma.", (2031, 3, 8)),
        ("De komende dagen ben ik in Rome.", (2031, 3, 8)),
        ("Nos próximos dias estou em Roma.", (2031, 3, 8)),
        ("I am in Rome in the coming week.", (2031, 3, 16)),
        ("I am in Rome in the coming days.", (2031, 3, 8)),
        ("In der kommenden Woche bin ich in Rom.", (2031, 3, 16)),
        ("La semana que viene estoy en Roma.", (2031, 3, 16)),
        ("La settimana che viene sono a Roma.", (2031, 3, 16)),
        ("Komende week ben ik in Rome.", (2031, 3, 16)),
        ("Semana que vem estou em Roma.", (2031, 3, 16)),
        ("我的合同3月6日到期。", (2031, 3, 6)),
        ("契約は3月6日に終わります。", (2031, 3, 6)),
        ("제 계약은 3월 6일에 끝나요.", (2031, 3, 6)),
        ("I leave on Thursday and come back on Sunday.", (2031, 3, 9)),
        ("I am away until Thursday and come back on Sunday.", (2031, 3, 9)),
    ],
)
def test_an_end_is_read_from_the_words(said: str, last: tuple[int, int, int]) -> None:
    """What says until when it holds ends with that day, whole."""
    found = find_end(said, MONDAY)
    assert found is not None
    assert found.date() == date(*last)
    assert found + timedelta(seconds=1) == datetime.combine(date(*last) + timedelta(days=1), datetime.min.time(), UTC)


@pytest.mark.parametrize(
    "said",
    [
        "My name is Ada.",
        "The pool is open until 20:00.",
        "Do nothing until further notice.",
        "I lived in Graz until 2029.",
        "I was in Berlin until Friday.",
        "I work from Monday to Friday.",
        "From today on always use tabs.",
        "Starting tomorrow, write in German.",
        "The report is due tomorrow.",
        "I am moving to Bergen tomorrow.",
        "My daughter turns 7 tomorrow.",
        "I adopted a cat today.",
        "This year I moved to Bergen.",
        "My birthday is tomorrow.",
        "The museum is open from 1 April to 31 October every year.",
        "We met last week.",
        "Guten Morgen!",
        "Please remind me to call Bo on 5 March.",
        "The invoice of 5 March is paid.",
        "I am on leave until 20 February.",
        "The office is open till late.",
        "Call me after tomorrow.",
        "The trial lasts for two weeks.",
        "The tenancy is for two years.",
        "I have worked there for two weeks.",
        "I have been in Rome for two weeks.",
        "Ich bin seit zwei Wochen krank.",
        "Ich habe diese Woche gearbeitet.",
        "Mein Sohn ist drei Monate alt.",
        "J'ai mangé aujourd'hui.",
        "Ho mangiato oggi.",
        "Я был в Москве до пятницы.",
        "我昨天在北京。",
        "我明天搬家。",
        "昨日は休みでした。",
        "来週から東京に住みます。",
        "From Monday to Friday I work at home.",
        "I am in the office from Monday to Wednesday.",
        "I am in Rome from Monday to Wednesday.",
        "I am in Berlin from Monday to Thursday.",
        "My kids stay with me from Friday to Sunday.",
        "I am on call from Monday to Sunday.",
        "I am in Berlin from Monday to Thursday and at home on Friday.",
        "I am in Berlin from Monday to Thursday, every week.",
        "The shop is open from Monday to Saturday.",
        "Ich arbeite von Montag bis Freitag.",
        "If I skip breakfast I am cranky for the rest of the day.",
        "I work in the morning and have the rest of the day off.",
        "I will love him for the rest of my life.",
        "I never sleep the next couple of days after a flight.",
    ],
)
def test_without_certainty_there_is_no_end(said: str) -> None:
    """A habit, a start, the past, a deadline, a time of day and a day that may be past or a year ahead give none."""
    assert find_end(said, MONDAY) is None


def test_a_day_without_a_year_is_the_coming_one() -> None:
    """Said in December, January is next year's; said on a Friday, "until Friday" is the one in a week."""
    december = datetime(2031, 12, 20, 23, 59, tzinfo=UTC)
    found = find_end("The house is let until 6 January.", december)
    assert found is not None
    assert found.date() == date(2032, 1, 6)
    friday = find_end("I am in Berlin until Friday.", datetime(2031, 3, 7, 8, tzinfo=UTC))
    assert friday is not None
    assert friday.date() == date(2031, 3, 14)


@pytest.mark.parametrize(
    ("said", "hour", "last"),
    [
        ("Never call me today.", 8, (2031, 3, 9)),
        ("Never call me today.", 17, (2031, 3, 10)),
        ("My meeting tomorrow is at 9.", 23, (2031, 3, 11)),
        ("Never call me this week.", 8, (2031, 3, 9)),
        ("Never call me this week.", 23, (2031, 3, 16)),
        ("I am in Berlin until Friday.", 23, (2031, 3, 14)),
        ("I am in Berlin until 12 March.", 23, (2031, 3, 12)),
    ],
)
def test_a_relative_day_is_the_latest_that_may_be_meant(said: str, hour: int, last: tuple[int, int, int]) -> None:
    """Where it may be the next day or week already for the speaker, "today" and "this week" are those; a named day is in UTC."""
    sunday = datetime(2031, 3, 9, hour, tzinfo=UTC)
    for zone in (UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-8))):
        found = find_end(said, sunday.astimezone(zone))
        assert found is not None
        assert found.date() == date(*last)


def test_patterns_are_made_ready_one_by_one() -> None:
    """What the first statement of a process is searched with can be made ready with a pause after each pattern."""
    compile_pattern.cache_clear()
    pauses_count = sum(1 for _ in read_ends_ahead())
    made = compile_pattern.cache_info().misses
    assert pauses_count == made
    find_end("The kiln is warm.", MONDAY.replace(minute=MONDAY.minute + 1))
    assert compile_pattern.cache_info().misses <= made + 1
