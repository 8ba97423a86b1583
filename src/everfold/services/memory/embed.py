"""Embed: give vectors to what has none yet, beside the turns, and find what is near a question.

An embedder is another program across a network. It is never asked within a transaction, and nothing waits for
it but this: a message is stored without a vector and is found by full text until it has one. What cannot be embedded
now is left for the next time; what was erased meanwhile is not kept (see the port). Doing it again changes nothing.

A pass lists a user's messages from where a former one came to. In a store of many writers a message may be committed after
others that drew their keys later: so a pass goes on behind what another one has listed only once each write that was on its
way then has ended, and its messages were listed too.

Source: DESIGN section 4, "Recall"; docs/adr/0022-vectors.md.
"""

import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import anyio

from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.vectors import (
    KINDS,
    Embeddable,
    Near,
    OpenWrites,
    Space,
    Vector,
    VectorKind,
    VectorRef,
    VectorRow,
    clean_text,
    normalise,
)
from everfold.errors import (
    ContextLengthError,
    InvalidInputError,
    LimitError,
    ModelError,
    ModelReplyError,
    ModelUnavailableError,
    RateLimitedError,
    StoreError,
)
from everfold.ports.users import UserStore
from everfold.ports.vectors import VectorStore
from everfold.services.models.call_embedder import EmbedderCaller

PAGE_COUNT = 1_000
"""How many are listed at once: a listing costs by what the user has, not by what it gives."""
MOST_USERS = 10_000
"""For how many users it is remembered how far their messages are done."""
MOST_REFUSED = 10_000
"""Of how many texts it is remembered that they were refused."""
BACKOFF_SECS = 1.0
"""The longest wait before the first retry; it doubles with each."""
AGAIN_SECS = 300.0
"""How long a fill of everybody waits for an embedder, or a store, that does not serve."""
OTHER_KINDS: tuple[VectorKind, ...] = tuple(kind for kind in KINDS if kind != "message")
_USERS_COUNT = 100
_PROBE = "size"
"""What is embedded to learn how large the vectors of a model are, and whether it serves at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What one pass did.

    Attributes:
        embedded_count: Vectors that were kept.
        refused_count: Texts that the embedder would not take; they are tried again after a restart, or in other words.
        problem: Why the pass ended early; empty when it came to its end.
    """

    embedded_count: int = 0
    refused_count: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reached:
    """How far the messages of a user are done.

    Attributes:
        after: Before it nothing can be committed any more; the next pass lists from it.
        through: The last one that was listed, where all before it is to be listed once more.
        awaited: Only writes below it may be on their way with a message before that one; 0 until it is read.
    """

    after: VectorRef | None = None
    through: VectorRef | None = None
    awaited: int = 0

    def move(self, last: VectorRef | None, writes: OpenWrites) -> "_Reached":
        """Where a pass has come to that listed messages up to the last one, and read before which writes were open."""
        awaited = self.awaited or writes.next
        if self.through is not None and writes.ended_before < awaited:
            return replace(self, awaited=awaited)
        return _Reached(after=self.through or self.after, through=last or self.through)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """One embedder over one store.

    Attributes:
        batch_count: How many texts one request holds.
        retries: How many attempts may follow the first, each only after an error that is `retryable`.
        timeout_secs: How long one attempt may take.
        question_secs: How long a question may wait for its vector, since a caller waits for the answer.
        sleep: Waits so many seconds between attempts.
        jitter: A number from 0 to 1, so that many callers do not come back at once.
    """

    store: VectorStore
    caller: EmbedderCaller
    batch_count: int = 64
    retries: int = 2
    timeout_secs: float = 60.0
    question_secs: float = 2.0
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random.random
    _filling: dict[UserId, anyio.Lock] = field(default_factory=dict, init=False)
    _cleared: set[UserId] = field(default_factory=set, init=False)
    _reached: dict[UserId, _Reached] = field(default_factory=dict, init=False)
    _refused: set[tuple[VectorRef, str]] = field(default_factory=set, init=False)

    async def fill_user(self, user_id: UserId) -> Filled:
        """Embed everything of a user that has no vector, and drop the vectors that another embedder made.

        An embedder that does not serve ends it, and is no error.

        Raises:
            StoreError: the store does not serve.
        """
        counts = [0, 0]
        if len(self._filling) >= MOST_USERS:
            self._filling.clear()
        lock = self._filling.setdefault(user_id, anyio.Lock())
        try:
            async with lock:
                space = await self._find_space(user_id)
                await self._drop_others(user_id, space)
                await self._fill_messages(user_id, space, counts)
                for kind in OTHER_KINDS:
                    await self._fill_kind(user_id, kind, space, counts)
                if counts[0]:
                    await self.store.tend_vectors(user_id)
        except (ModelError, LimitError) as error:
            return Filled(embedded_count=counts[0], refused_count=counts[1], problem=str(error))
        return Filled(embedded_count=counts[0], refused_count=counts[1])

    async def fill_everybody(self, users: UserStore) -> None:
        """Fill what has no vector of every user, one after the other; until all are through, also past any failure.

        Ends early where the embedder cannot be had at all: the next append says why.

        Args:
            users: Who there is.
        """
        after: UserId | None = None
        while True:
            try:
                page = await users.list_users(after=after, limit_count=_USERS_COUNT)
                for user in page:
                    if (await self.fill_user(user.id)).problem:
                        break
                    after = user.id
                else:
                    if not page:
                        return
                    continue
            except InvalidInputError:
                return
            except StoreError:
                pass  # turns report it to their callers
            await self.sleep(AGAIN_SECS)

    async def find_near(
        self,
        question: str,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        kinds: Sequence[VectorKind] = KINDS,
        limit_count: int,
    ) -> list[Near]:
        """What is near a question, best first; nothing where the embedder does not serve in time.

        Raises:
            InvalidInputError: the store cannot compare vectors as it is installed.
            StoreError: the store does not serve.
        """
        text = clean_text(question)
        if not any(map(str.isalnum, text)):
            return []
        try:
            [vector] = await self.caller.call([text], user_id=user_id, is_query=True, secs=self.question_secs)
        except (ModelError, LimitError):
            return []
        space = Space(self.caller.embedder.name, len(vector))
        return await self.store.find_near(
            vector, user_id=user_id, agent_id=agent_id, kinds=kinds, space=space, limit_count=limit_count
        )

    async def close(self) -> None:
        """Let go of the embedder."""
        await self.caller.embedder.close()

    async def _find_space(self, user_id: UserId) -> Space:
        if self.caller.embedder.dimensions is None:
            await self._ask_again(user_id, [_PROBE])
        return Space(self.caller.embedder.name, self.caller.embedder.dimensions or 0)

    async def _drop_others(self, user_id: UserId, space: Space) -> None:
        """Drop what another embedder made, once it is known that this one serves: nothing searches it any more."""
        if user_id in self._cleared:
            return
        if any(other != space for other in await self.store.count_vectors(user_id)):
            await self._ask_again(user_id, [_PROBE])  # where its size is a setting, nothing has been asked of it yet
            while await self.store.drop_vectors(user_id, keep=space, limit_count=PAGE_COUNT) == PAGE_COUNT:
                pass  # between two pages others may write
        if len(self._cleared) >= MOST_USERS:
            self._cleared.clear()
        self._cleared.add(user_id)

    async def _fill_messages(self, user_id: UserId, space: Space, counts: list[int]) -> None:
        """From where the passes before came to: messages only ever grow in number."""
        reached = self._reached.get(user_id, _Reached())
        writes = await self.store.read_open_writes()
        last = await self._fill_kind(user_id, "message", space, counts, after=reached.after)
        if len(self._reached) >= MOST_USERS:
            self._reached.clear()
        self._reached[user_id] = reached.move(last, writes)

    async def _fill_kind(
        self, user_id: UserId, kind: VectorKind, space: Space, counts: list[int], *, after: VectorRef | None = None
    ) -> VectorRef | None:
        """Page by page, less what was refused before; gives the last one that was listed."""
        last: VectorRef | None = None
        while True:
            page = await self.store.list_missing(user_id, kind, space, after=last or after, limit_count=PAGE_COUNT)
            asked = [words for words in page if (words.ref, words.content_hash) not in self._refused]
            for start in range(0, len(asked), self.batch_count):
                kept_count, refused_count = await self._fill(user_id, space, asked[start : start + self.batch_count])
                counts[0] += kept_count
                counts[1] += refused_count
            last = page[-1].ref if page else last
            if len(page) < PAGE_COUNT:
                return last

    def _refuse(self, words: Iterable[Embeddable]) -> None:
        if len(self._refused) >= MOST_REFUSED:
            self._refused.clear()
        self._refused.update((one.ref, one.content_hash) for one in words)

    async def _fill(
        self, user_id: UserId, space: Space, batch: Sequence[Embeddable], *, is_part: bool = False
    ) -> tuple[int, int]:
        """Embed and keep a batch, and give how many were kept and refused; one that is refused is halved.

        So is one at which the embedder fails though it serves: servers answer with an error of their own where a text is
        too long for them, or takes too long.
        """
        try:
            vectors = await self._ask_again(user_id, [words.text for words in batch])
        except (ContextLengthError, ModelReplyError, ModelUnavailableError) as error:
            if not is_part or isinstance(error, ModelUnavailableError):
                await self._ask_again(user_id, [_PROBE])  # refused too, it is not for these texts: then the pass ends
            if len(batch) == 1:
                self._refuse(batch)
                return 0, 1
            middle = len(batch) // 2
            left = await self._fill(user_id, space, batch[:middle], is_part=True)
            right = await self._fill(user_id, space, batch[middle:], is_part=True)
            return left[0] + right[0], left[1] + right[1]
        rows = [
            VectorRow(ref=words.ref, content_hash=words.content_hash, vector=vector)
            for words, vector in zip(batch, vectors, strict=True)
            if normalise(vector) is not None
        ]
        kept = {row.ref for row in rows}
        self._refuse(words for words in batch if words.ref not in kept)
        return await self.store.put_vectors(user_id, space, rows), len(batch) - len(rows)

    async def _ask_again(self, user_id: UserId, texts: Sequence[str]) -> list[Vector]:
        attempt = 1
        while True:
            try:
                return await self.caller.call(
                    texts, user_id=user_id, is_query=False, secs=self.timeout_secs, attempt=attempt
                )
            except (ModelError, RateLimitedError) as error:
                if not error.retryable or attempt > self.retries:
                    raise
            await self.sleep(BACKOFF_SECS * 2 ** (attempt - 1) * (1 + self.jitter()) / 2)
            attempt += 1
