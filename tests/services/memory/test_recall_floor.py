"""Courtesies bring nothing back; a short question brings its answer, in every script."""

from collections.abc import AsyncIterator

import pytest

from everfold.bootstrap import open_store
from everfold.core.log.sessions import SessionRecord
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.recall.packing import RecallBlock
from everfold.ports.stores import Store
from everfold.services.memory.recall import Shown, recall_turn
from everfold.testing.kit.builders import assistant, minute, open_session, user
from everfold.testing.kit.memory_builders import item, put, topic

pytestmark = pytest.mark.anyio
NOW = minute(900)
STRUCTURED = MemoryPolicy(system="structured")
FACTS = {
    "The ferry to Oslo leaves at 9:40 from pier 3.": "Which ferry?|ferry|Thanks! And the ferry?|Good morning! When does the ferry leave?",
    "Ben's birthday is on 12 May, he turns six.": "And Ben's birthday?|Ben?|Hi! How old is Ben?",
    "The wi-fi password is tulip-4711.": "Wi-Fi password?|wifi?|Hey, what's the wifi password again?",
    "I get up at six in the morning.": "When do I get up in the morning?",
    "Your gate is 17.": "Which gate?|Gate 17?",
    "Der Schlüssel liegt unter der Matte.": "Schlüssel?|Wo ist der Schlüssel?|Hallo! Wo ist denn der Schlüssel?",
    "El cumpleaños de Ana es el 3 de junio.": "¿Y el cumpleaños de Ana?|¿Ana?",
    "Le train pour Lyon part à 7 h 15.": "Et le train ?",
    "Пароль от сейфа 5521.": "Пароль?|Какой пароль?",
    "うちの犬の名前はポチです。": "犬の名前は\uff1f|名前\uff1f",
    "我的狗叫旺财。": "我的狗叫什么\uff1f|狗\uff1f",
    "保险箱的密码是8823。": "密码\uff1f|密码是什么\uff1f",
    "비밀번호는 4417입니다.": "비밀번호?|비밀번호는?",
}
FILLER = (
    "Good morning! I had a great time today, thanks!|It was a really good idea, I had no idea.|Long time no talk, see you tomorrow!"
    "|What do you think of it?|I feel so happy that you like it, sounds fun!|Tell me more about it, I love to help.|你好\uff01今天天气很好\uff0c谢谢你。"
    "|昨日はとても楽しかったです。ありがとうございます。|안녕하세요! 오늘은 정말 좋아요.|Guten Morgen! Das war heute eine gute Idee, wie geht es dir?"
    "|C'est une bonne idée, merci, à demain.|Es una buena idea, gracias, hasta mañana.|Сегодня очень хорошо, как дела?|I was up 23 times.|Is it true that you had a happy new year?|It was a great day."
).split("|")
IDLE = (
    "Thanks, talk to you tomorrow!|Good morning! How are you today?|I really like that idea.|What's 17 times 23?|Oh wow, I had no idea."
    "|Sorry, I have to go now, bye!|Tell me a joke.|Do you have any suggestions?|Great, I will think about it and let you know.|Yes, that one please."
    "|Ah ha ha, yeah, JUST DOING IT!|Hey Caroline! How are you doing?|Thanks, Ida!|What's up?|Wow, that's amazing!|Have a great weekend!"
    "|Haha, that's so funny!|I totally agree with you.|That makes sense, thank you so much for your help.|How's it going today?"
    "|Good night, sleep well!|No worries, take your time.|Long time no see! What's new?|Let me think about it.|Convert 5 miles to km please"
    "|Is that true?|Happy new year!|What day is it today?|LOL you made my day"
    "|Guten Morgen! Wie geht es dir heute?|Das ist eine gute Idee!|Bis morgen, danke!|Bonjour, comment ça va ?|C'est une bonne idée, merci."
    "|¿Qué tal hoy?|Hasta mañana, gracias.|Buona idea, grazie!|Tudo bem com você?|Hoe gaat het met je?|Как дела сегодня?|Спасибо, до завтра!"
    "|你好吗\uff1f|早上好\uff01|谢谢你\uff0c明天见\uff01|お元気ですか\uff1f|おはようございます。お元気ですか\uff1f|いいですね\uff01|안녕하세요! 잘 지내세요?|정말 고마워요!"
).split("|")


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    opened = await open_store(url)
    yield opened
    await opened.close()


@pytest.fixture
async def session(store: Store) -> SessionRecord:
    """A session in which each fact stands between four courtesies of many languages, with answers."""
    wires = []
    for at, fact in enumerate(FACTS):
        idle = [user(FILLER[(at + more) % len(FILLER)]) for more in range(4)]
        wires += [
            *idle[:2],
            assistant("You are welcome, anything else today?"),
            user(fact),
            assistant("I see."),
            *idle[2:],
        ]
    return await open_session(store, None, *wires)


async def list_recalled(store: Store, session: SessionRecord, prompt: str, policy: MemoryPolicy) -> RecallBlock:
    """What a turn with this prompt gets."""
    return await recall_turn(store, prompt, policy, now=NOW, shown=Shown(session=session))


async def test_a_courtesy_brings_nothing_back(store: Store, session: SessionRecord) -> None:
    """Greetings, thanks, assent and farewells find none of the many messages that are made of the same words."""
    brought = {prompt: (await list_recalled(store, session, prompt, MemoryPolicy())).text for prompt in IDLE}
    assert {prompt: text for prompt, text in brought.items() if text} == {}


async def test_a_short_question_brings_its_answer(store: Store, session: SessionRecord) -> None:
    """A question of one or two words, with a courtesy before it or without, has its answer among what comes back."""
    for fact, questions in FACTS.items():
        for question in questions.split("|"):
            block = await list_recalled(store, session, question, MemoryPolicy())
            assert fact in block.text, question


async def test_words_that_say_nothing_find_no_memory(store: Store, session: SessionRecord) -> None:
    """Items and topics that share thin words alone with a prompt are not recalled; those with a word that tells are."""
    await put(
        store,
        item("itm_1", "Ada likes to tell of her day."),
        topic("top_1", content="What Ada would like to tell today."),
    )
    assert not (await list_recalled(store, session, "Tell me a joke.", STRUCTURED)).shown
    await put(store, item("itm_2", "Ada likes a joke."))
    block = await list_recalled(store, session, "Tell me a joke.", STRUCTURED)
    assert [one.key.id for one in block.shown] == ["itm_2"]


async def test_a_reply_has_its_point_from_its_question(store: Store) -> None:
    """What comes right after a question that is to the point comes back with it, without one of its words."""
    own = await open_session(
        store, None, user("Fine weather."), user("Which regatta dance?"), assistant("Mostly tango.")
    )
    block = await list_recalled(store, own, "regatta dance", MemoryPolicy())
    assert [one.key.seq for one in block.shown] == [2, 3]


async def test_a_neighbour_without_a_word_of_the_question_does_not_come(store: Store) -> None:
    """What stands behind a statement that is found comes back only where it has a word of the question itself."""
    talk = (
        user("The regatta in Whitby was won by Kittiwake."),
        assistant("My cousin bought a red bicycle."),
        user("Whitby has a harbour."),
    )
    own = await open_session(store, None, *talk)
    block = await list_recalled(store, own, "Who won the regatta in Whitby?", MemoryPolicy())
    assert [one.key.seq for one in block.shown] == [1, 3]
