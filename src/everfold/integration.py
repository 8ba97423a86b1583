"""The Integration handle: what a program between a model and a session needs, and no conversation does."""

from collections.abc import Awaitable, Callable, Sequence

from everfold.core.log.titles import clean_title
from everfold.core.windows.handing_over import MOST_CHARS, hand_over, hand_recalled
from everfold.core.windows.parts import list_parts
from everfold.core.windows.window import Window
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.check_arguments import checked
from everfold.services.memory.recall import Shown, recall_turn
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.read import look_up
from everfold.services.sessions.switch import Switcher
from everfold.services.turns.agent_memory import Memories


@checked
class Integration:
    """One session for frameworks, hooks of other programs and servers. Get one from `Session.integration`."""

    def __init__(
        self,
        live: LiveSession,
        *,
        store: Store,
        clock: Clock,
        memories: Memories,
        switcher: Switcher,
        preview: Callable[[], Awaitable[Window]],
    ) -> None:
        self._live = live
        self._store = store
        self._clock = clock
        self._memories = memories
        self._switcher = switcher
        self._preview = preview

    async def create(self) -> bool:
        """Store this session before the first append; returns whether it was new.

        Needed only if another process uses its id before the first append.
        """
        return await self._live.ensure_stored(self._store)

    async def resume(self) -> None:
        """Make this session the current one of its user and agent again."""
        await self.create()
        self._live.record = (await self._switcher.resume(self._live.record)).record

    async def set_title(self, title: str) -> str:
        """Give the session a title for lists, and return it as it is stored; an empty text removes it.

        The title is one line of at most 200 characters; what is not seen is left out. No model is shown it. An erase of a
        message removes it, since it may tell of the message.

        Raises:
            InvalidInputError: the title is not a text.
        """
        if self._live.opening is None:
            await self._live.reload(self._store)
        await self._switcher.opener.set_title(self._live, clean_title(title))
        return self._live.record.title

    async def lookup(self, client_ids: Sequence[str] = (), *, hashes: Sequence[str] = ()) -> dict[str, int]:
        """Find sequence numbers by client id or hash; unknown ones are left out.

        Args:
            client_ids: As they were given to `append`; an erased message keeps its own.
            hashes: SHA-256 of the stored JSON, in hex, as `Message.content_hash` has it. Of several messages with the
                same hash it gives the newest.

        Raises:
            InvalidInputError: more than 1,000 are given.
        """
        if not await self._live.is_stored(self._store):
            return {}
        return await look_up(self._store, self._live, client_ids=client_ids, hashes=hashes)

    async def hand_over(self, *, max_chars: int = MOST_CHARS) -> str:
        """What is past of this session, as one text for the model of another program that has compacted its own context.

        Standing instructions, digests and kept messages, as far as they fit; empty where nothing is folded.
        """
        return hand_over(list_parts(await self._preview()), max_chars=max_chars)

    async def recall_past(self, prompt: str, *, through: int) -> str:
        """What answers a prompt among the messages that another program's model no longer sees, as one text for it.

        With structured memory also what memory has, and other sessions. Empty where nothing is to be recalled, or
        `recall.enabled` is off.

        Args:
            prompt: What the user says next.
            through: The last message that has left that program's context; 0 for none.
        """
        policy = self._memories.policy_of(self._live.record.agent_id)
        if not await self._live.is_stored(self._store) or not (through or policy.is_structured):
            return ""
        shown = Shown(session=self._live.record, last_seq=through)
        block = await recall_turn(self._store, prompt, policy, now=self._clock.now(), shown=shown)
        return hand_recalled(block.text)
