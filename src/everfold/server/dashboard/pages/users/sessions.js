// The sessions of one user, newest first.

import { get } from "../../lib/api.js";
import { isListed, useEngineEvents, WITHDRAWN } from "../../lib/live.js";
import { Busy, Empty, Failure, hrefTo, html, Loading } from "../../lib/ui.js";
import { SessionLines } from "../session_lines.js";
import { usePages } from "./items.js";

export function UserSessions({ user }) {
  const list = usePages(cursor => get("/api/sessions", { user: user.id, cursor, limit: 50, previews: true }), [user.id], page => page.sessions);
  useEngineEvents(["session_switched", "messages_appended"], list.reload, { waitMs: 2000 });
  useEngineEvents(WITHDRAWN, list.reload, { filter: isListed });
  return html`
    <section class="card" aria-label="Sessions of this user">
      <${Failure} problem=${list.problem?.status === 0 ? null : list.problem} retry=${list.reload} />
      ${list.items === null && !list.problem && html`<${Loading} lines=${8} />`}
      ${list.items?.length === 0 && html`<${Empty} title="No sessions" hint="The first message of this user starts a session."><a class="button" href=${hrefTo("chat", "default", { user: user.id })}>Open the chat</a><//>`}
      ${list.items?.length > 0 && html`<${SessionLines} sessions=${list.items} hasUser=${false} />`}
      ${list.hasMore && html`<div class="more-row"><${Busy} isBusy=${list.isLoading} onClick=${list.more}>Show more<//></div>`}
    </section>`;
}
