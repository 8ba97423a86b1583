"""Sessions over HTTP: which there are, what they hold, and how they follow each other."""

from dataclasses import asdict
from typing import Literal, NamedTuple

from pydantic import Field

from everfold.admin import BrowsedSession, SessionWords
from everfold.core.compaction.certificate import VerificationProblem
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.log.titles import MOST_TITLE_CHARS
from everfold.core.primitives.ids import MOST_ID_CHARS
from everfold.server.schemas.schema import Given, many, project, wrap
from everfold.server.schemas.windows import SliceSchema, list_slices
from everfold.services.forgetting.wipe import ErasedSession
from everfold.services.inspection.inspect_session import Standing
from everfold.services.inspection.verify import Verification

Order = Literal["newest", "oldest"]
"""Which end of a list comes first."""


class NewSession(Given):
    """Which session is to be opened, and what it is to hold; a change is a cache break."""

    user: str | None = Field(
        default=None,
        description="`default`, or the UUID of a user. Default: the API key's own user, else the default user.",
        examples=["default"],
    )
    agent: str | None = Field(
        default=None,
        min_length=1,
        description="Default: the API key's own agent, else `default`.",
        examples=["default"],
    )
    session_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_ID_CHARS,
        description="One user and agent have a current session for each, such as for each thread. Default: the one without.",
        examples=["thread-42"],
    )
    limit: int | None = Field(default=None, ge=1, description="The model's context limit in tokens.", examples=[16_000])
    system: str | None = Field(default=None, description="The system prompt.", examples=["You help a harbour master."])
    tools: list[dict[str, object]] | None = Field(default=None, description="Tool schemas, in either provider's form.")
    new: bool = Field(default=False, description="Begin a new one, which follows the current one.")


class SessionChange(Given):
    """What a session is to hold from now on; what is left out stays."""

    limit: int | None = Field(default=None, ge=1, description="The model's context limit in tokens.", examples=[16_000])
    system: str | None = Field(
        default=None,
        description="The system prompt; an empty text takes it away.",
        examples=["You help a harbour master."],
    )
    tools: list[dict[str, object]] | None = Field(
        default=None, description="Tool schemas, in either provider's form; an empty list takes them away."
    )
    title: str | None = Field(
        default=None,
        max_length=MOST_TITLE_CHARS,
        description="One line for lists, which no model is shown; an empty text takes it away.",
        examples=["Berths in October"],
    )


class BranchPoint(Given):
    """Where to branch off."""

    seq: int = Field(ge=1, description="The last message that is shared; no step is split.", examples=[120])


class ShownSession(NamedTuple):
    """One session with what it holds and where it stands."""

    record: SessionRecord
    standing: Standing
    words: SessionWords | None = None

    @property
    def listed(self) -> BrowsedSession:
        """The session as lists have it."""
        return BrowsedSession(record=self.record, figures=self.standing.figures, words=self.words)


SessionSchema = project(
    "Session",
    BrowsedSession,
    "id=record.id user_id=record.user_id agent=record.agent_id is_current=record.is_current session_key=record.session_key "
    "parent_id=record.parent_id "
    "branch_seq=record.branch_seq started_by=record.started_by created_at=record.created_at active_at=figures.active_at "
    "limit_tokens=record.settings.limit_tokens messages_count=figures.last_seq compacted_through=figures.watermark "
    "epoch=figures.epoch own_title=record.title title preview",
    "One log between a user and an agent.",
    words={
        "is_current": "New messages of this user to this agent under this session key go here.",
        "session_key": "Which of their conversations side by side it belongs to; empty where none was given.",
        "active_at": "When the user spoke last; null before.",
        "messages_count": "Also the number of the newest message.",
        "own_title": "The title that an import or a person gave it; empty where it has none.",
    },
    title=(
        str | None,
        lambda listed: listed.words.title if listed.words else listed.record.title or None,
        "Its own title, else the first sentence that the user said; null in a list without `previews` where it has none of its own.",
    ),
    preview=(
        str | None,
        lambda listed: listed.words.preview if listed.words else None,
        "How the newest message begins; null in a list without `previews`.",
    ),
)
SessionPageSchema = wrap(
    "SessionPage", "Sessions, by when they were made.", sessions=many(SessionSchema), next_cursor=str | None
)
SettingsSchema = project(
    "SessionSettings",
    SessionSettings,
    "limit_tokens system=prompt.system tools policy",
    words={"system": "The system prompt."},
    tools=(list[object], lambda settings: settings.prompt.tools, "Tool schemas, as they were given."),
    policy=(
        dict[str, object],
        lambda settings: asdict(settings.policy),
        "How it compacts: the settings of the section `compaction` by name.",
    ),
)
StateSchema = project(
    "SessionState",
    Standing,
    "last_seq=figures.last_seq compacted_through=figures.watermark tokens=report.tokens budget_tokens=report.budget_tokens "
    "trigger_tokens=budget.trigger_tokens slices calibration=calibration.factor epoch=figures.epoch",
    "Where a session stands now, before anything that is due is folded.",
    slices=(many(SliceSchema), list_slices, "What fills the window, with the bounds."),
)
SessionDetailSchema = project(
    "SessionDetail",
    ShownSession,
    "settings=record.settings state",
    base=SessionSchema,
    at="listed",
    words={"settings": "What it holds from its opening."},
    settings=SettingsSchema,
    state=(StateSchema, lambda shown: shown.standing, "Where it stands now."),
)
ErasedSessionSchema = project(
    "ErasedSession",
    ErasedSession,
    "sessions messages compactions digests counts items kept topics superseded is_pending",
    words={
        "superseded": "Items that stay superseded by something that is erased; undo brings one back.",
        "is_pending": "The database's files still hold it until another reader lets go.",
    },
    messages=(int, lambda erased: erased.counts.get("messages", 0), "Messages that went."),
    compactions=(int, lambda erased: erased.counts.get("compactions", 0), "Compactions that went."),
    digests=(int, lambda erased: erased.counts.get("digests", 0), "Digests that went."),
)
VerificationProblemSchema = project(
    "VerificationProblem",
    VerificationProblem,
    "compaction_id seq problem",
    compaction_id=(str | None, lambda problem: problem.compaction_id or None, "The compaction that it is about."),
    seq=(int | None, lambda problem: problem.seq or None, "The message; null where it is not about one."),
)
CheckedSchema = project("Checked", Verification, "messages_count compactions_count", "How much was looked at.")
VerificationSchema = project(
    "Verification",
    Verification,
    "problems checked",
    "What a verification saw; no problem: every guarantee holds.",
    problems=VerificationProblemSchema,
    checked=(CheckedSchema, lambda seen: seen, "How much was looked at."),
)
