// Sessions in short lists: the title of each, how its newest message begins, and its size.
import { plural } from "../lib/format.js";
import { hrefTo, html, Line, Time } from "../lib/ui.js";
import { useUserName } from "./names.js";

/** Sessions as links, newest first as they are given; `hasUser` says whose each is. */
export const SessionLines = ({ sessions, hasUser = true }) => html`<ul class="session-lines">${sessions.map((session) => html`<${SessionLine} key=${session.id} session=${session} hasUser=${hasUser} />`)}</ul>`;

function SessionLine({ session, hasUser }) {
  const name = useUserName(hasUser ? session.user_id : null);
  return html`<li><a href=${hrefTo("sessions", session.id)}>
    <span class="row"><${Line} className="grow session-line-title" value=${titleOf(session)} />${session.is_current && html`<span class="tag accent">current</span>`}</span>
    <${Line} className="small" value=${session.preview} max=${300} empty="no text" />
    <span class="small soft row">${hasUser && html`<${Line} value=${name} />`}<span>${session.agent.slice(0, 40)}</span><span class="nowrap">${plural(session.messages_count ?? 0, "message")}</span><span class="nowrap"><${Time} at=${session.active_at ?? session.created_at} /></span></span>
  </a></li>`;
}

/** The title of a session, or the end of its id. */
export const titleOf = (session) => session.title || `Session ${session.id.slice(-8)}`;
