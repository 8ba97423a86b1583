"""Consolidation: which topics the items of a user make, with or without a model's text, so that no item is lost.

Theory of operation. Every current item stands in a topic: told by its prose, or on a line of its own. A plan takes the
topics apart into groups of items, puts the new items in (`core.subjects`), and writes down what has changed. A model's
proposal is one more way to form groups and prose; whatever its prose does not tell gets a line again. Items that came
from outside have a topic of their own in each tier and are never shown to the model, so that nothing they say can sink
or steer the others.

A topic whose content has reached `TOPIC_CHARS` is closed: it stays as it is, and what else belongs to it goes to a next
volume, as long as the tier may have one more topic. Then the shortest goes on growing. So a dream reads and writes a small
part of what memory holds, and a tier never has more than `MOST_TOPICS`.

Source: DESIGN section 4, "Dreamer"; REQUIREMENTS U-50 to U-54, P-OF-10, P-OF-11.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import count
from typing import Final

from everfold.core.dreams.scenes import (
    MOST_TOPICS,
    TIERS,
    TOPIC_CHARS,
    Consolidation,
    Proposal,
    Scene,
    TopicProposal,
    choose_topics,
    is_outside,
)
from everfold.core.dreams.subjects import Group, group_items
from everfold.core.dreams.topic_lines import (
    HeldText,
    Scan,
    read_topic_text,
    write_count,
    write_date,
    write_topic_text,
)
from everfold.core.dreams.topic_names import GENERAL, choose_free_name, find_subject
from everfold.core.memory.items import Item, ItemId, Tier
from everfold.core.memory.topics import Topic, TopicId, TopicStatus
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.primitives.stepwise import Steps

OUTSIDE: Final = "from_outside"
"""The topic of what no person and no model of the user's said."""


def plan_stepwise(scene: Scene, *, scan: Scan, proposals: Sequence[Proposal] = ()) -> Steps[Consolidation]:
    """The topics' new revisions, so that each current item of the scene is in a topic; a pause after each tier.

    Deterministic. Without proposals items are grouped by subject and each has a line. O(items times topics), times the
    statement.
    """
    planner = _Planner(scene=scene, scan=scan)
    for tier in TIERS:
        proposal = next((one for one in proposals if one.tier == tier), None)
        yield from planner.plan_tier(tier, proposal)
    touched = dict.fromkeys(id_ for topic in planner.written for id_ in topic.sources)
    return Consolidation(
        topics=tuple(planner.written),
        items=tuple(dict.fromkeys((*(item.id for item in scene.items), *touched))),
        notes=tuple(planner.notes),
    )


def rebuild_topic(topic: Topic, items: Sequence[Item], *, now: datetime, scan: Scan) -> Topic:
    """A topic's next revision, made of nothing but these items; erased where there are none.

    For who has erased one of its sources: nothing of its text is taken over. The caller sees to its older revisions.
    """
    current = [item for item in items if item.is_current(now)]
    if not current:
        return replace(
            topic, revision=topic.revision + 1, updated_at=now, status="erased", summary="", content="", sources=()
        )
    return replace(
        topic,
        revision=topic.revision + 1,
        updated_at=now,
        summary=write_count([write_date(item.valid_from) for item in current]),
        content=write_topic_text("", current, replaced={}, scan=scan),
        sources=tuple(item.id for item in current),
        origin=_lowest(current, None),
        expires_at=_find_end(current),
    )


@dataclass(slots=True, kw_only=True)
class _Parts:
    """One tier taken apart: the groups of what is trusted and of what is from outside, and what is in none."""

    groups: list[Group] = field(default_factory=list)
    outside: list[Group] = field(default_factory=list)
    pool: list[Item] = field(default_factory=list)

    def drop(self, group: Group) -> None:
        """Take a group away; its items are in none then."""
        self.groups = [one for one in self.groups if one is not group]
        self.pool += [*group.fixed, *group.items]


class _Planner:
    """A plan in the making, tier by tier."""

    def __init__(self, *, scene: Scene, scan: Scan) -> None:
        self.scene, self.scan = scene, cache(scan)
        self.known: Mapping[ItemId, Item] = {item.id: item for item in (*scene.sources, *scene.items)}
        self.written: list[Topic] = []
        self.notes: list[str] = []
        self._numbers = count(1)
        self._volumes_left = 0

    def plan_tier(self, tier: Tier, proposal: Proposal | None) -> Steps[None]:
        read = [
            one for one in choose_topics(self.scene.topics, self.scene.items, now=self.scene.now) if one.tier == tier
        ]
        parts = self._take_apart(read)
        placed = {id_ for topic in self.scene.topics if topic.tier == tier for id_ in topic.sources}
        parts.pool += [item for item in self.scene.items if item.tier == tier and item.id not in placed]
        parts.pool = [item for item in parts.pool if item.is_current(self.scene.now)]
        trusted = [item for item in parts.pool if not is_outside(item.origin)]
        others = [item for item in parts.pool if is_outside(item.origin)]
        parts.pool = trusted
        taken = {topic.name for topic in self.scene.topics if topic.tier == tier}
        _rename_volumes(parts.groups, taken)
        taken |= {OUTSIDE} - {group.name for group in parts.groups}
        if proposal is not None:
            self._apply(parts, proposal, taken)
        elif parts.pool:
            _empty_general(parts)
        room_count = MOST_TOPICS - self._count_unread(tier, read) - bool(others or parts.outside)
        group_items(parts.groups, parts.pool, taken=taken, most_count=room_count)
        _add_outside(parts.outside, others, taken)
        groups = (*parts.groups, *parts.outside)
        taken |= {group.name for group in groups}
        self._volumes_left = room_count - sum(bool(group.fixed or group.items) for group in parts.groups)
        yield
        for group in groups:
            self._write(group, tier, taken)
            yield

    def _count_unread(self, tier: Tier, read: Sequence[Topic]) -> int:
        """How many topics the tier has besides those that are read: closed ones, which stay."""
        read_ids = {topic.id for topic in read}
        return sum(topic.tier == tier and topic.id not in read_ids for topic in self.scene.topics)

    # --- taking apart

    def _take_apart(self, topics: Sequence[Topic]) -> _Parts:
        parts = _Parts()
        for topic in topics:
            if not topic.is_current(self.scene.now):
                self._retire(topic, "expired")
                parts.pool += self._list_known(topic.sources)
                continue
            group = self._open_group(topic)
            (parts.outside if is_outside(topic.origin) else parts.groups).append(group)
            if not is_outside(topic.origin):
                parts.pool += [item for item in group.items if is_outside(item.origin)]
                group.items = [item for item in group.items if not is_outside(item.origin)]
        return parts

    def _open_group(self, topic: Topic) -> Group:
        """A topic's group. Prose of which a source may not be shown any more is left out: all that is left gets lines."""
        now = self.scene.now
        text = read_topic_text(topic.content)
        sources = self._list_known(topic.sources)
        lined = frozenset(text.items)
        told = [item for item in sources if item.id not in lined]
        missing = len(sources) < len(topic.sources)
        if not text.prose or missing or any(item.status in ("erased", "quarantined") for item in told):
            group = Group(name=topic.name, topic=topic, items=[item for item in sources if item.is_current(now)])
        else:
            held = HeldText(text.prose)
            fixed = [item for item in told if not item.is_current(now) or held.holds(item)]
            loose = [item for item in sources if item not in fixed and item.is_current(now)]
            group = Group(name=topic.name, topic=topic, fixed=fixed, items=loose, prose=text.prose)
            group.summary, group.expires_at, group.origin = topic.summary, topic.expires_at, topic.origin
        group.learn([item.statement for item in (*group.fixed, *group.items)])
        return group

    def _list_known(self, ids: Iterable[ItemId]) -> list[Item]:
        return [self.known[id_] for id_ in ids if id_ in self.known]

    # --- a model's proposal

    def _apply(self, parts: _Parts, proposal: Proposal, taken: set[str]) -> None:
        """Form groups and prose as proposed, but for topics that have changed since the model saw them."""
        self.notes += proposal.notes
        seen = set(proposal.seen)
        rewritten = {one.name for one in proposal.topics}
        for group in list(parts.groups):
            is_fresh = group.topic is not None and (group.topic.id, group.topic.revision) in seen
            if group.topic is not None and is_fresh and group.name in set(proposal.supersedes) - rewritten:
                self._retire(group.topic, "superseded")
                parts.drop(group)
            elif not is_fresh and group.name in rewritten:
                rewritten.discard(group.name)
                self.notes.append("a topic was changed meanwhile and keeps its newer text")
        parts.pool = [item for item in parts.pool if item.is_current(self.scene.now)]
        for one in proposal.topics:
            if one.name in rewritten:
                self._adopt(parts, one, taken)

    def _adopt(self, parts: _Parts, proposed: TopicProposal, taken: set[str]) -> None:
        """Make a proposed topic a group with its prose; the items that it names are in it."""
        known = self._list_known(proposed.items)
        if any(item.status == "quarantined" for item in known):
            self.notes.append("a topic rests on what was quarantined meanwhile and was left out")
            return
        named = [item for item in known if item.is_current(self.scene.now) and not is_outside(item.origin)]
        group = next((one for one in parts.groups if one.name == proposed.name), None)
        if group is None:
            if not named:
                self.notes.append("a topic named no item that still holds and was left out")
                return
            name = choose_free_name(proposed.name, taken, since=_find_start(named))
            parts.groups.append(group := Group(name=name))
        ids = {item.id for item in named}
        for other in parts.groups:
            other.items = [item for item in other.items if item.id not in ids]
        parts.pool = [item for item in parts.pool if item.id not in ids]
        held = HeldText(proposed.content)
        told = [item for item in (*group.fixed, *known) if item.id not in ids]
        stale = [item for item in told if not item.is_current(self.scene.now) and held.holds(item)]
        every = [*(item for item in told if item.is_current(self.scene.now)), *group.items, *named]
        group.fixed = [*stale, *(item for item in every if held.holds(item))]
        group.items = [item for item in every if not held.holds(item)]
        group.prose, group.summary, group.expires_at = proposed.content, proposed.summary, proposed.expires_at
        group.origin = "assistant"
        group.learn([proposed.content])
        if group.items:
            self.notes.append(f"noted again what a topic had lost: {len(group.items)} items")

    # --- writing

    def _write(self, group: Group, tier: Tier, taken: set[str]) -> None:
        """A group as its topic's new revision, if it is one; further volumes take what is too long."""
        if not (group.fixed or group.items or group.prose):
            if group.topic is not None:
                self._retire(group.topic, "superseded")
            return
        current, rest = group, self._fill(group)
        while rest:
            self._write_one(current, tier)
            name = choose_free_name(group.name, taken | {topic.name for topic in self.written}, since=_find_start(rest))
            current = Group(name=name, items=rest)
            self._volumes_left -= 1
            rest = self._fill(current)
        self._write_one(current, tier)

    def _fill(self, group: Group) -> list[Item]:
        """Leave a group the items that it takes until it is closed; the others by date, if they may have a volume."""
        ordered = sorted(group.items, key=lambda item: (item.valid_from, item.id))
        length = len(group.prose)
        for at, item in enumerate(ordered):
            if at and length >= TOPIC_CHARS and self._volumes_left > 0 and not is_outside(item.origin):
                group.items = ordered[:at]
                return ordered[at:]
            length += len(write_topic_text("", [item], replaced={}, scan=self.scan)) + 1
        return []

    def _write_one(self, group: Group, tier: Tier) -> None:
        topic, everything = group.topic, [*group.fixed, *group.items]
        replaced = {item.superseded_by: item for item in group.fixed if item.superseded_by is not None}
        content = write_topic_text(group.prose, group.items, replaced=replaced, scan=self.scan)
        summary = (
            group.summary
            if group.summary is not None
            else write_count([write_date(item.valid_from) for item in everything])
        )
        threats = tuple(self.scan(f"{summary}\n{content}"))
        written = Topic(
            id=topic.id if topic else TopicId(f"{self.scene.dream_id}_topic_{next(self._numbers)}"),
            user_id=self.scene.user_id,
            agent_id=topic.agent_id if topic else self.scene.agent_id,
            tier=tier,
            name=group.name,
            summary=summary,
            content=content,
            sources=_order_sources(topic, everything),
            origin=_lowest(everything, group.origin),
            updated_at=self.scene.now,
            expires_at=group.expires_at if group.prose else _find_end(everything),
            status="quarantined" if threats else "active",
            revision=topic.revision + 1 if topic else 1,
            dream_id=self.scene.dream_id,
            threats=threats,
        )
        if topic is None or not says_the_same(topic, written):
            self.written.append(written)

    def _retire(self, topic: Topic, status: TopicStatus) -> None:
        retired = replace(
            topic,
            revision=topic.revision + 1,
            updated_at=self.scene.now,
            status=status,
            dream_id=self.scene.dream_id,
        )
        self.written.append(retired)


def says_the_same(older: Topic, newer: Topic) -> bool:
    """Whether a revision would change nothing but its number. Source: REQUIREMENTS CB-25."""
    return (
        " ".join(older.content.split()) == " ".join(newer.content.split())
        and (older.name, older.summary) == (newer.name, newer.summary)
        and older.expires_at == newer.expires_at
        and older.status == newer.status
        and older.origin == newer.origin
        and set(older.sources) == set(newer.sources)
    )


def _rename_volumes(groups: Iterable[Group], taken: set[str]) -> None:
    """Call headings that tell their place among others ("later plans") by their subject and their time."""
    for group in groups:
        subject = None if group.prose else find_subject(group.name)
        if subject is not None and group.items:
            group.name = choose_free_name(subject, taken, since=_find_start(group.items))
            taken.add(group.name)


def _empty_general(parts: _Parts) -> None:
    """Give the items of a general topic the chance of a subject, now that there are more."""
    for group in parts.groups:
        if group.name == GENERAL and not group.prose:
            parts.pool += group.items
            group.items = []


def _add_outside(groups: list[Group], items: Sequence[Item], taken: set[str]) -> None:
    if not items:
        return
    if not groups:
        groups.append(Group(name=choose_free_name(OUTSIDE, taken - {OUTSIDE}, since=_find_start(items))))
    for item in items:
        groups[-1].take(item)


def _order_sources(topic: Topic | None, items: Sequence[Item]) -> tuple[ItemId, ...]:
    """Those that it had, in their order, then the new ones."""
    ids = {item.id for item in items}
    before = [id_ for id_ in topic.sources if id_ in ids] if topic else []
    return tuple(dict.fromkeys((*before, *(item.id for item in items))))


def _lowest(items: Sequence[Item], own: Origin | None) -> Origin:
    origins = [item.origin for item in items] + ([own] if own else [])
    return min(origins, key=AUTHORITY.__getitem__)


def _find_start(items: Iterable[Item]) -> datetime:
    """When the first of the items holds from."""
    return min(item.valid_from for item in items)


def _find_end(items: Sequence[Item]) -> datetime | None:
    """When the last of the items ends; None where one has no end."""
    ends = [item.valid_to for item in items if item.valid_to is not None]
    return max(ends) if items and len(ends) == len(items) else None
