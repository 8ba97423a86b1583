"""The methods of a store that sessions, users, logs and compactions are reached by."""

from collections.abc import Sequence
from datetime import datetime

from everfold.adapters.sql import (
    clients,
    compaction,
    following,
    forgetting,
    history,
    leases,
    log,
    sessions,
    usage,
    users,
)
from everfold.adapters.sql.connections import (
    Connections,
    notes,
    reads,
    reads_placed,
    writes,
    writes_lightly,
    writes_placed,
)
from everfold.core.forgetting.messages import Erasure
from everfold.core.log.appending import AppendPlan
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.primitives.ids import SessionId, UserId
from everfold.ports.forgetting import WipedUser


class SqlLog(Connections):
    """The methods of `everfold.ports.stores`, `users`, `compactions`, `leases`, `forgetting` and `usage`."""

    # --- sessions

    create_session = writes(log.create_session)
    get_session = reads(sessions.get_session)
    find_current_session = reads(sessions.find_current_session)
    list_sessions = reads(sessions.list_sessions)
    make_current = writes(sessions.make_current)
    change_settings = writes_placed(log.change_settings)
    set_title = writes(sessions.set_title)
    list_used = reads(sessions.list_used)

    # --- followed transcripts

    find_followed = reads(following.find_followed)
    list_followed = reads(following.list_followed)
    keep_followed = writes(following.keep_followed)

    # --- users

    add_user = writes(users.add_user)
    find_user = reads(users.find_user)
    find_bound = reads(users.find_bound)
    find_default = reads(users.find_default)
    change_user = writes(users.change_user)
    list_users = reads(users.list_users)
    list_users_named = reads(users.list_users_named)

    # --- log

    async def append(self, session_id: SessionId, plan: AppendPlan, *, expected_revision: int) -> None:
        """See the port."""
        await self._write_placed(log.append, session_id, plan, expected_revision)

    read_turn_recall = reads_placed(log.read_turn_recall)
    read_state = reads_placed(log.read_state)
    write_state = writes_placed(log.write_state)
    read_messages = reads_placed(log.read_messages)
    read_notes = reads_placed(log.read_notes)
    find_client_ids = reads_placed(log.find_client_ids)
    find_boundary = reads_placed(log.find_boundary)

    # --- compaction

    begin_compaction = writes_placed(compaction.begin_compaction)
    commit_compaction = writes_placed(compaction.commit_compaction)
    revise_compaction = writes_placed(compaction.revise_compaction)
    end_compaction = writes_placed(compaction.end_compaction)
    reopen_compaction = writes_placed(compaction.reopen_compaction)
    get_compaction = reads(compaction.get_compaction)
    claim_compaction = writes(compaction.claim_compaction)
    renew_compaction = writes(compaction.renew_compaction)
    keep_draft = writes_placed(compaction.keep_draft)
    release_compaction = writes(compaction.release_compaction)
    list_waiting = reads(compaction.list_waiting)
    list_compactions = reads_placed(compaction.list_compactions)
    read_layout = reads(compaction.read_layout)
    read_layouts = reads(compaction.read_layouts)
    read_digests = reads(compaction.read_digests)

    # --- leases

    claim_lease = writes_lightly(leases.claim_lease)
    renew_lease = writes_lightly(leases.renew_lease)
    find_holder = reads(leases.find_holder)
    release_lease = writes_lightly(leases.release_lease)

    # --- history

    search = reads_placed(history.search)
    search_users = reads(history.search_users)
    find_hashes = reads_placed(history.find_hashes)
    read_contents = reads_placed(history.read_contents)
    list_sharing = reads_placed(history.list_sharing)
    retract_messages = writes_placed(history.retract_messages)

    async def erase_message(self, erasure: Erasure, *, erased_at: datetime) -> None:
        """See the port."""
        await self._write_placed(history.erase_message, erasure, erased_at)
        await self._empty_log()

    # --- clients' lists

    find_by_chain = reads(clients.find_by_chain)
    find_by_tail = reads(clients.find_by_tail)
    find_with_erased = reads(clients.find_with_erased)
    read_client_list = reads_placed(clients.read_client_list)
    write_client_list = writes_placed(clients.write_client_list)

    # --- forgetting

    list_branches = reads(forgetting.list_branches)

    async def erase_sessions(self, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
        """See the port."""
        counts = await self._write(forgetting.erase_sessions, session_ids, change)
        await self._empty_log()
        return counts

    async def wipe_user(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> WipedUser:
        """See the port."""
        wiped = await self._write(forgetting.wipe_user, user_id, expected, entry)
        await self._empty_log()
        return wiped

    list_stored = reads(forgetting.list_stored)
    import_memory = writes(forgetting.import_memory)

    # --- usage

    record_call = notes(usage.record_call)
    sum_cost_usd = reads(usage.sum_cost_usd)
    list_calls = reads(usage.list_calls)
