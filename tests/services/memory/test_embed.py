"""Giving vectors to what has none, with embedders that fail in every way."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from everfold.adapters.models.hashed import HashedEmbedder
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.adapters.system.ids import RandomIds
from everfold.core.primitives.ids import UserId
from everfold.core.recall.vectors import Space
from everfold.errors import (
    ContextLengthError,
    EverfoldError,
    ModelReplyError,
    ModelUnavailableError,
    RateLimitedError,
)
from everfold.ports.embedders import Embedded
from everfold.ports.stores import Store
from everfold.services.memory.embed import AGAIN_SECS, Embedding, Filled
from everfold.services.models.call_embedder import EmbedderCaller
from everfold.testing.contract.usage import call
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    append_wires,
    minute,
    open_session,
    plan_bare_erasure,
    session_record,
    user,
)
from everfold.testing.kit.fakes import FakeClock
from everfold.testing.kit.memory_builders import item, put, topic

SIZE = 64
Trouble = Callable[[Sequence[str]], BaseException | None]


class TroubledEmbedder:
    """Hashes texts, but for what its trouble says; its size is known once it has served."""

    def __init__(self, *troubles: Trouble, name: str = "hash:64") -> None:
        self.name = name
        self.dimensions: int | None = None
        self.asked: list[list[str]] = []
        self.closed_count = 0
        self.troubles = troubles
        self._hashed = HashedEmbedder(SIZE)

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
        """Their vectors, or its trouble."""
        self.asked.append(list(texts))
        for trouble in self.troubles:
            error = trouble(texts)
            if error is not None:
                raise error
        self.dimensions = SIZE
        return await self._hashed.embed(texts, is_query=is_query)

    async def close(self) -> None:
        """Count it."""
        self.closed_count += 1


def once(*errors: Exception) -> Trouble:
    """Each error is raised once, in order."""
    left = list(errors)
    return lambda _: left.pop(0) if left else None


def at_texts(word: str, error: BaseException) -> Trouble:
    """The error comes whenever a text has the word."""
    return lambda texts: error if any(word in text for text in texts) else None


def make(
    store: Store, embedder: TroubledEmbedder, *, secs: float = 60.0, retries: int = 2
) -> tuple[Embedding, list[float]]:
    """A service that does not wait between attempts, and how long it would have."""
    waits: list[float] = []

    async def sleep(secs: float) -> None:
        waits.append(secs)

    made = Embedding(
        store=store,
        caller=EmbedderCaller(embedder=embedder, store=store, clock=FakeClock(), ids=RandomIds()),
        batch_count=4,
        retries=retries,
        timeout_secs=secs,
        question_secs=secs,
        sleep=sleep,
        jitter=lambda: 1.0,
    )
    return made, waits


@pytest.fixture
def store() -> SqliteStore:
    """An empty store."""
    return SqliteStore(IN_MEMORY)


async def speak(store: Store, count: int = 10) -> None:
    """A session of the user with so many messages."""
    await open_session(store, None, *[user(f"Berth {number} is free.") for number in range(count)])


async def test_everything_is_embedded_once(store: SqliteStore) -> None:
    """Messages, items and topics get their vectors, in batches; doing it again asks nothing."""
    await speak(store)
    await put(store, item("itm_1"), topic("top_1"))
    embedder = TroubledEmbedder()
    embedding, _ = make(store, embedder)
    assert await embedding.fill_user(ADA) == Filled(embedded_count=12)
    assert await store.count_vectors(ADA) == {Space("hash:64", SIZE): 12}
    assert [len(texts) for texts in embedder.asked] == [1, 4, 4, 2, 1, 1]
    assert await embedding.fill_user(ADA) == await make(store, embedder)[0].fill_user(ADA) == Filled()
    assert len(embedder.asked) == 6


class TendedStore(SqliteStore):
    """Keeps for whom it was told to prepare searches."""

    def __init__(self) -> None:
        super().__init__(IN_MEMORY)
        self.tended: list[UserId] = []

    async def tend_vectors(self, user_id: UserId) -> None:
        """Note it."""
        self.tended.append(user_id)


async def test_a_pass_that_embedded_something_prepares_searches() -> None:
    """The store is told once a pass has added vectors, and not by a pass that found nothing to do."""
    store = TendedStore()
    await speak(store)
    embedding, _ = make(store, TroubledEmbedder())
    await embedding.fill_user(ADA)
    await embedding.fill_user(ADA)
    assert store.tended == [ADA]


async def test_what_comes_later_is_embedded_later(store: SqliteStore) -> None:
    """A message after a pass, in whatever session, and a changed item are embedded by the next."""
    first = await open_session(store, None, user("One."))
    second = await open_session(store, session_record("ses_2", parent=first), user("Two."))
    embedder = TroubledEmbedder()
    embedding, _ = make(store, embedder)
    await embedding.fill_user(ADA)
    await append_wires(store, first.id, user("Three."))
    await append_wires(store, second.id, user("Four."))
    await put(store, item("itm_1", "Five."))
    assert (await embedding.fill_user(ADA)).embedded_count == 3
    assert [*embedder.asked[-2], *embedder.asked[-1]] == ["Three.", "Four.", "Five."]


@pytest.mark.parametrize("error", [ModelUnavailableError("away"), RateLimitedError("slow down")])
async def test_a_passing_failure_is_tried_again(store: SqliteStore, error: EverfoldError) -> None:
    """What may succeed later is asked again, after longer and longer waits, and the pass goes on."""
    await speak(store, 3)
    embedding, waits = make(store, TroubledEmbedder(once(error, error)))
    assert await embedding.fill_user(ADA) == Filled(embedded_count=3)
    assert waits == [1.0, 2.0]


async def test_an_embedder_that_is_away_ends_the_pass(store: SqliteStore) -> None:
    """When no attempt succeeds the pass says why and is no error; what it had is kept, and the next one goes on there."""
    await speak(store)
    away = ModelUnavailableError("the model is away")
    embedder = TroubledEmbedder(lambda _: away if len(embedder.asked) > 2 else None)
    embedding, waits = make(store, embedder)
    assert await embedding.fill_user(ADA) == Filled(embedded_count=4, problem="the model is away")
    assert len(waits) == 4
    embedder.troubles = ()
    assert await embedding.fill_user(ADA) == Filled(embedded_count=6)


@pytest.mark.parametrize(
    "error",
    [
        ContextLengthError("too long"),
        ModelReplyError("no"),
        RuntimeError("broken"),
        ModelUnavailableError("a server's own error"),
        asyncio.CancelledError(),
        BaseExceptionGroup("tasks", [asyncio.CancelledError()]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_text_that_is_refused_keeps_no_other_back(store: SqliteStore, error: BaseException) -> None:
    """Of a batch with a text that the embedder does not take, all others are embedded; it is not asked about for ever."""
    await speak(store)
    embedder = TroubledEmbedder(at_texts("Berth 5", error))
    embedding, _ = make(store, embedder)
    assert await embedding.fill_user(ADA) == Filled(embedded_count=9, refused_count=1)
    asked_count = len(embedder.asked)
    assert asked_count < 24
    assert await embedding.fill_user(ADA) == Filled()
    assert len(embedder.asked) == asked_count


async def test_a_refused_item_is_asked_about_in_other_words(store: SqliteStore) -> None:
    """An item that the embedder does not take is asked about again once it has been edited, and not by every pass."""
    refused = item("itm_1", "Berth 5 is free.")
    await put(store, refused, item("itm_2", "Berth 6 is free."))
    embedder = TroubledEmbedder(at_texts("Berth 5", ContextLengthError("too long")))
    embedding, _ = make(store, embedder)
    assert await embedding.fill_user(ADA) == Filled(embedded_count=1, refused_count=1)
    assert await embedding.fill_user(ADA) == Filled()
    await put(store, replace(refused, statement="Berth 7 is free.", identity="seven", revision=2))
    assert await embedding.fill_user(ADA) == Filled(embedded_count=1)


async def test_an_embedder_that_refuses_everything_ends_the_pass(store: SqliteStore) -> None:
    """A wrong key is not tried on each text: a refused batch is followed by one question whether it serves at all."""
    await speak(store)
    embedder = TroubledEmbedder(at_texts("", ModelReplyError("the key is not known")))
    embedder.dimensions = SIZE
    embedding, _ = make(store, embedder)
    assert await embedding.fill_user(ADA) == Filled(problem="the key is not known")
    assert len(embedder.asked) == 2


async def test_too_few_vectors_are_no_answer(store: SqliteStore) -> None:
    """An embedder that gives fewer vectors than texts gives none."""

    class Short(TroubledEmbedder):
        async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
            return Embedded(vectors=(await super().embed(texts, is_query=is_query)).vectors[1:])

    await speak(store, 2)
    embedding, _ = make(store, Short())
    assert "gave 0 vectors for 1 texts" in (await embedding.fill_user(ADA)).problem
    assert await store.count_vectors(ADA) == {}


async def test_an_answer_that_is_none_ends_the_pass(store: SqliteStore) -> None:
    """An embedder that gives no answer at all has failed, as one that raises has."""

    class Silent(TroubledEmbedder):
        async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
            await super().embed(texts, is_query=is_query)
            return None  # type: ignore[return-value]  # on purpose

    await speak(store, 2)
    embedding, _ = make(store, Silent())
    assert "expected vectors" in (await embedding.fill_user(ADA)).problem
    assert await embedding.find_near("berth", user_id=ADA, agent_id=None, limit_count=3) == []


async def test_an_embedder_that_hangs_is_left(store: SqliteStore) -> None:
    """Neither a pass nor a question waits longer than its limit."""

    class Hanging(TroubledEmbedder):
        async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
            self.asked.append([*texts, str(is_query)])
            await anyio.sleep_forever()
            return Embedded(vectors=[])

    await speak(store, 2)
    embedding, _ = make(store, Hanging(), secs=0.01, retries=0)
    with anyio.fail_after(5):
        assert "did not answer within 0.01 s" in (await embedding.fill_user(ADA)).problem
        assert await embedding.find_near("berth", user_id=ADA, agent_id=None, limit_count=3) == []


async def test_what_is_erased_meanwhile_does_not_come_back(store: SqliteStore) -> None:
    """A message that is erased while the embedder works has no vector afterwards."""
    session = await open_session(store, None, user("Secret."), user("Plain."))

    class Slow(TroubledEmbedder):
        async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
            if "Secret." in texts:
                await store.erase_message(await plan_bare_erasure(store, session.id, 1), erased_at=minute(9))
            return await super().embed(texts, is_query=is_query)

    embedding, _ = make(store, Slow())
    assert await embedding.fill_user(ADA) == Filled(embedded_count=1)
    near = await embedding.find_near("Secret.", user_id=ADA, agent_id=None, limit_count=9)
    assert [one.ref.seq for one in near] == [2]


async def test_a_question_finds_what_is_near(tmp_path: Path) -> None:
    """The best come first, of the user who asks and of the kinds that are asked for, and never more than wanted."""
    store = await SqliteStore.open(str(tmp_path / "everfold.db"))
    await open_session(store, None, user("The violin lesson is on Monday."), user("Berth 4 costs 17 euros."))
    await open_session(store, session_record("ses_2", user_id=BEN), user("Berth 4 costs 17 euros."))
    await put(store, item("itm_1", "Berths cost 17 euros."))
    embedding, _ = make(store, TroubledEmbedder())
    await embedding.fill_user(ADA)
    await embedding.fill_user(BEN)
    near = await embedding.find_near("What does berth 4 cost?", user_id=ADA, agent_id=None, limit_count=9)
    assert [(one.ref.owner_id, one.ref.seq) for one in near] == [("ses_1", 2), ("itm_1", 0), ("ses_1", 1)]
    near = await embedding.find_near("berth", user_id=ADA, agent_id=None, kinds=("item",), limit_count=1)
    assert [one.ref.owner_id for one in near] == ["itm_1"]
    await store.close()


async def test_a_question_that_cannot_be_embedded_finds_nothing(store: SqliteStore) -> None:
    """Full text answers alone then: a failing embedder is no error, and a question without words is not asked."""
    await speak(store, 2)
    embedder = TroubledEmbedder()
    embedding, waits = make(store, embedder)
    await embedding.fill_user(ADA)
    embedder.troubles = (at_texts("", ModelReplyError("no")),)
    asked_count = len(embedder.asked)
    assert await embedding.find_near("berth", user_id=ADA, agent_id=None, limit_count=3) == []
    assert await embedding.find_near(" ?! ", user_id=ADA, agent_id=None, limit_count=3) == []
    assert len(embedder.asked) == asked_count + 1
    assert waits == []


async def test_secrets_are_not_asked_about(store: SqliteStore) -> None:
    """A question goes to the embedder without the secrets in it."""
    embedder = TroubledEmbedder()
    embedding, _ = make(store, embedder)
    secret = "sk-proj-Zx81kQv0TmWb27LrYd94Ns"
    await embedding.find_near(f"what is {secret} for", user_id=ADA, agent_id=None, limit_count=3)
    [[text]] = embedder.asked
    assert secret not in text
    await embedding.close()
    assert embedder.closed_count == 1


@pytest.mark.parametrize("is_size_set", [True, False])
async def test_another_embedder_starts_anew(store: SqliteStore, *, is_size_set: bool) -> None:
    """What another embedder made goes once the new one serves, page by page, and not before."""
    await speak(store, 5)
    await open_session(store, session_record("ses_2", user_id=BEN), user("Berth 4."))
    old, _ = make(store, TroubledEmbedder(name="old"))
    for user_id in (ADA, BEN):
        await old.fill_user(user_id)
    down = ModelUnavailableError("no", model="new")
    embedder = TroubledEmbedder(once(*[down] * 3), name="new")
    embedder.dimensions = SIZE if is_size_set else None
    new, _ = make(store, embedder)
    assert (await new.fill_user(ADA)).problem == "no"
    assert await store.count_vectors(ADA) == {Space("old", SIZE): 5}
    assert await new.fill_user(ADA) == Filled(embedded_count=5)
    assert await store.count_vectors(ADA) == {Space("new", SIZE): 5}
    assert await store.count_vectors(BEN) == {Space("old", SIZE): 1}


async def test_everybody_is_filled_when_the_embedder_serves_again(store: SqliteStore) -> None:
    """All users get their vectors, one after the other; an embedder or a store that does not serve is waited for."""
    await speak(store, 5)
    await open_session(store, session_record("ses_2", user_id=BEN), user("Berth 4."))
    down = ModelUnavailableError("no", model="hash:64")
    embedder = TroubledEmbedder(once(*[down] * 3))
    embedding, waits = make(store, embedder)
    await embedding.fill_everybody(store)
    assert waits[-1] == AGAIN_SECS
    assert await store.count_vectors(ADA) == {Space("hash:64", SIZE): 5}
    assert await store.count_vectors(BEN) == {Space("hash:64", SIZE): 1}
    asked_count = len(embedder.asked)
    await embedding.fill_everybody(store)
    assert len(embedder.asked) == asked_count


async def test_two_fills_of_a_user_embed_nothing_twice(store: SqliteStore) -> None:
    """A fill that begins while another one of the same user runs finds its work done."""
    await speak(store, 9)
    embedder = TroubledEmbedder()
    embedding, _ = make(store, embedder)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(embedding.fill_user, ADA)
    assert sum(len(texts) for texts in embedder.asked if texts != ["size"]) == 9


async def test_every_call_leaves_a_row(store: SqliteStore) -> None:
    """Each attempt is recorded under its user with its outcome; tokens are the embedder's own count, else an estimate."""

    class Counting(TroubledEmbedder):
        async def embed(self, texts: Sequence[str], *, is_query: bool) -> Embedded:
            answer = await super().embed(texts, is_query=is_query)
            return Embedded(vectors=answer.vectors, input_tokens=7, cost_usd=0.25, model="large")

    await speak(store, 2)
    embedding, _ = make(store, Counting(once(RateLimitedError("slow", model="hash:64"))))
    await embedding.fill_user(ADA)
    await embedding.find_near("berth", user_id=BEN, agent_id=None, limit_count=3)
    rows = await store.list_calls(limit_count=9)
    assert [(row.user_id, row.purpose, row.outcome, row.call_number, row.input_tokens) for row in rows] == [
        (ADA, "embed", "rate_limited", 1, 0),
        (ADA, "embed", "complete", 2, 7),
        (ADA, "embed", "complete", 1, 7),
        (BEN, "embed", "complete", 1, 7),
    ]
    assert (rows[3].model, rows[3].answered_by, rows[3].cost_usd) == ("hash:64", "large", 0.25)
    plain, _ = make(store, TroubledEmbedder())
    await plain.find_near("berth " * 50, user_id=ADA, agent_id=None, limit_count=3)
    assert 40 < (await store.list_calls(limit_count=99))[-1].input_tokens < 200


async def test_a_spend_cap_holds_for_embedders(store: SqliteStore) -> None:
    """Once the day's cap is reached nothing is asked: a pass ends with the reason, a question finds nothing."""
    await speak(store, 2)
    await store.record_call(replace(call("call_x"), started_at=FakeClock().now(), cost_usd=1.0))
    embedder = TroubledEmbedder()
    embedding, _ = make(store, embedder)
    embedding = replace(embedding, caller=replace(embedding.caller, per_day_usd=1.0))
    assert "spend.per_day_usd" in (await embedding.fill_user(ADA)).problem
    assert await embedding.find_near("berth", user_id=ADA, agent_id=None, limit_count=3) == []
    assert embedder.asked == []
