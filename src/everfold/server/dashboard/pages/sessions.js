// The list of sessions, the search over their messages, and the page of one session.
import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { useEngineEvents } from "../lib/live.js";
import { Empty, Failure, goTo, hrefTo, html, Id, Line, Loading, Search, Time, useDebounced, useLoad, useWho } from "../lib/ui.js";
import { VirtualList } from "../lib/virtual.js";
import { useUserName } from "./names.js";
import { AgentPicker, UserPicker } from "./pickers.js";
import { SessionPage } from "./session.js";

const PAGE = 100;
const MOST_HITS = 100;

export default function Sessions({ path, params }) {
  const [id, tab] = path;
  if (id) return html`<${SessionPage} key=${id} id=${id} tab=${tab} seq=${Number(params.seq) || null} openCompaction=${params.compaction} />`;
  return html`<${SessionList} params=${params} />`;
}

function SessionList({ params }) {
  const user = params.user || "", agent = params.agent || "", order = params.order || "newest";
  const [question, setQuestion] = useState(params.q || "");
  const late = useDebounced(question.trim(), 250);
  const [version, setVersion] = useState(0), [counted, setCounted] = useState(null);
  useEngineEvents(["messages_appended", "session_switched", "compaction_committed", "late_digest_committed"], () => setVersion((old) => old + 1), { waitMs: 1500 });
  const turn = (change) => goTo(hrefTo("sessions", { user, agent, order: order === "newest" ? "" : order, ...change }), { replace: true });
  const loadPage = async (cursor, { signal }) => {
    const page = await get("/api/sessions", { user, agent, order, limit: PAGE, cursor }, { signal });
    return { items: page.sessions, nextCursor: page.next_cursor };
  };
  return html`<div class="page sessions-page">
    <header class="list-head">
      <h1>Sessions</h1>
      <div class="filters">
        <${UserPicker} value=${user} allLabel="All users" onPick=${(id) => turn({ user: id })} />
        <${AgentPicker} value=${agent} allLabel="All agents" onPick=${(name) => turn({ agent: name })} />
        <div class="picker"><label>Order<select value=${order} onChange=${(event) => turn({ order: event.target.value === "newest" ? "" : event.target.value })}>
          <option value="newest">Newest first</option><option value="oldest">Oldest first</option></select></label></div>
        <div class="picker grow"><span class="label">Messages</span><${Search} label="Search messages" placeholder="Search messages" value=${question} onInput=${setQuestion} /></div>
      </div>
    </header>
    ${late ? html`<${Hits} question=${late} user=${user} agent=${agent} />` : html`
      <p class="soft small count-line" aria-live="polite">${counted === null ? "" : counted.isAll ? plural(counted.count, "session") : `first ${number(counted.count)} sessions`}</p>
      <div class="session-list card">
        <${VirtualList} rowHeight=${innerWidth <= 720 ? 84 : 62} listKey=${`${user}|${agent}|${order}`} reloadKey=${version} loadPage=${loadPage} keyOf=${(session) => session.id}
          label="Sessions" onSelect=${(session) => goTo(hrefTo("sessions", session.id))} onCount=${(count, isAll) => setCounted({ count, isAll })}
          renderRow=${(session) => html`<${SessionRow} session=${session} />`}
          empty=${html`<${Empty} title="No sessions" hint=${user || agent ? "No session matches these filters." : "The first message to an agent starts a session."}>
            ${user || agent ? html`<button type="button" onClick=${() => turn({ user: "", agent: "" })}>Show all</button>` : html`<a class="button" href="#chat">Open the chat</a>`}<//>`} />
      </div>`}
  </div>`;
}

function SessionRow({ session }) {
  const name = useUserName(session.user_id, session.user_name);
  return html`<div class="session-row">
  <${Line} className="session-row-who" value=${`${name} · ${session.agent}`} />
  <div class="session-row-name"><span class="mono">${session.id.slice(-12)}</span>${session.is_current && html`<span class="tag accent">current</span>`}${session.parent_id && html`<span class="tag">follows another</span>`}</div>
  <div class="session-row-size">${plural(session.messages_count ?? 0, "message")}</div>
  <${Folded} session=${session} />
  <div class="session-row-when soft"><${Time} at=${session.created_at} /></div>
</div>`;
}

/** How much of a session is compacted. */
function Folded({ session }) {
  const all = session.messages_count || 0, compacted = session.watermark || 0;
  return html`<div class="session-row-folded" title=${`${number(compacted)} of ${plural(all, "message")} compacted`}>
    <span class="bar-track" role="img" aria-label=${`${number(compacted)} of ${number(all)} compacted`}><i class="bar-part is-digest" style=${{ width: `${all ? (100 * compacted) / all : 0}%` }}></i><i class="bar-part is-tail" style=${{ width: `${all ? (100 * (all - compacted)) / all : 0}%` }}></i></span>
  </div>`;
}

function Hits({ question, user, agent }) {
  const who = useWho(), scope = who?.key.scope || "";
  const asked = user || (scope.startsWith("user:") ? undefined : who?.default_user_id || "default");
  const found = useLoad(({ signal }) => get("/api/search", { q: question, user: asked, agent, in: "messages", limit: MOST_HITS }, { signal }), [question, asked, agent]);
  if (found.problem) return html`<${Failure} problem=${found.problem} retry=${found.reload} />`;
  if (!found.data) return html`<${Loading} />`;
  const hits = found.data.messages;
  return html`<div>
    <p class="soft small count-line" role="status">${hits.length === MOST_HITS ? `The ${MOST_HITS} best messages` : plural(hits.length, "message")}${user ? "" : scope.startsWith("user:") ? "" : " of the default user; choose another above"}</p>
    ${hits.length ? html`<ul class="hits card" aria-label="Messages found">${hits.map((hit) => html`<li key=${`${hit.session_id}:${hit.seq}`}>
      <a href=${hrefTo("sessions", hit.session_id, "log", { seq: hit.seq })}>
        <span class="row"><b>#${number(hit.seq)}</b> <span class="role">${hit.role}</span> <span class="soft small mono">${hit.session_id.slice(-8)}</span><span class="grow"></span><span class="soft small"><${Time} at=${hit.said_at} /></span></span>
        <${Line} value=${hit.excerpt} max=${400} as="div" />
      </a></li>`)}</ul>` : html`<div class="card"><${Empty} title="Nothing found" hint="No message matches. Search compares words, and also meaning when an embedder is configured." /></div>`}
  </div>`;
}
