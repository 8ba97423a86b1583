"""What a model wrote of an erased message is gone from the file, byte for byte."""

from pathlib import Path

from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.digests.drafts import Draft
from everfold.testing.contract.compaction import LATER
from everfold.testing.contract.work import begin
from everfold.testing.kit.builders import LEASE_SECS, open_session, plan_bare_erasure, talk

SECRET = "a digest that speaks of the xylophone alibi"


def words_in(path: Path) -> bool:
    """Whether any file of the database holds the words."""
    return any(SECRET.encode() in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def test_a_draft_is_overwritten(tmp_path: Path) -> None:
    """After an erase neither the database nor its log holds a draft that was waiting; before it one of them does."""
    path = tmp_path / "everfold.db"
    store = await SqliteStore.open(str(path))
    record = await open_session(store, None, *talk(8))
    compaction = (await begin(store, record.id, "evt_1")).compaction
    await store.claim_compaction(compaction.id, secs=LEASE_SECS)
    await store.keep_draft(compaction.id, Draft(text=SECRET, tokens=9), attempt=1, extraction="off")
    assert words_in(path)
    await store.erase_message(await plan_bare_erasure(store, record.id, 3), erased_at=LATER)
    assert not words_in(path)
    await store.close()
    assert not words_in(path)
