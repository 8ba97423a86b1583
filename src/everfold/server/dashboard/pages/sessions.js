// The list of sessions, the search over their messages, and the page of one session.
import { useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { isListed, isWithdrawal, useEngineEvents, useWithdrawals, WITHDRAWN } from "../lib/live.js";
import { Busy, Empty, Failure, goTo, hrefTo, html, Line, Loaded, Loading, Search, Spinner, Time, useAction, useDebounced, useLoad, useWho } from "../lib/ui.js";
import { VirtualList } from "../lib/virtual.js";
import { FirstSteps, ImportButton } from "./first_steps.js";
import { useUserName } from "./names.js";
import { AgentPicker, UserPicker } from "./pickers.js";
import { SessionPage } from "./session.js";
import { readDays, readRange, TimeRange } from "./time_range.js";
import { SessionLines, titleOf } from "./session_lines.js";

const PAGE = 100;
const MOST_HITS = 100;
const MOST_TITLED = 10;
const MOST_TITLE_CHARS = 200;
const ROLES = ["user", "assistant", "tool", "system"];
const UNASKED = { hits: [], users: 0, cursor: undefined };

export default function Sessions({ path, params }) {
  const [id, tab] = path;
  if (id) return html`<${SessionPage} key=${id} id=${id} tab=${tab} seq=${Number(params.seq) || null} openCompaction=${params.compaction} question=${params.q || ""} />`;
  return html`<${SessionList} params=${params} />`;
}

function SessionList({ params }) {
  const user = params.user || "", agent = params.agent || "", order = params.order || "newest";
  const range = readDays(params);
  const [question, setQuestion] = useState(params.q || "");
  const typed = useDebounced(question.trim(), 250);
  const late = question === params.q ? question.trim() : typed; // what the address asks for does not wait
  const [role, setRole] = useState("");
  useEffect(() => setQuestion(params.q || ""), [params.q]);
  const [version, setVersion] = useState(0), [counted, setCounted] = useState(null);
  const look = () => setVersion((old) => old + 1);
  useEngineEvents(["messages_appended", "session_switched", "compaction_committed", "late_digest_committed"], look, { waitMs: 1500 });
  useEngineEvents(WITHDRAWN, look, { filter: isListed });
  const turn = (change) => goTo(hrefTo("sessions", { user, agent, order: order === "newest" ? "" : order, ...range, q: params.q || "", ...change }), { replace: true });
  const loadPage = async (cursor, { signal }) => {
    const page = await get("/api/sessions", { user, agent, order, ...readRange(range), limit: PAGE, cursor, previews: true }, { signal });
    return { items: page.sessions, nextCursor: page.next_cursor };
  };
  return html`<div class="page sessions-page">
    <header class="list-head">
      <div class="row between"><h1>Sessions</h1><${ImportButton} user=${user} agent=${agent} className="" onImported=${look} /></div>
      <div class="filters">
        <${UserPicker} value=${user} allLabel="All users" onPick=${(id) => turn({ user: id })} />
        <${AgentPicker} value=${agent} allLabel="All agents" onPick=${(name) => turn({ agent: name })} />
        <div class="picker"><label>Order<select value=${order} onChange=${(event) => turn({ order: event.target.value === "newest" ? "" : event.target.value })}>
          <option value="newest">Newest first</option><option value="oldest">Oldest first</option></select></label></div>
        <div class="picker grow"><span class="label">Messages and titles</span><${Search} label="Search messages and titles" placeholder="Search" value=${question} onInput=${setQuestion} /></div>
        ${late && html`<div class="picker"><label>Role<select value=${role} onChange=${(event) => setRole(event.target.value)}><option value="">All roles</option>${ROLES.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label></div>`}
        <${TimeRange} ...${range} of=${late ? "Said" : "Stored"} onChange=${turn} />
      </div>
    </header>
    ${late ? html`<${Titled} question=${late} user=${user} agent=${agent} /><${Hits} question=${late} user=${user} agent=${agent} only=${{ role, ...range }} />` : html`
      <p class="soft small count-line" aria-live="polite">${counted === null ? "" : counted.isAll ? plural(counted.count, "session") : `first ${number(counted.count)} sessions`}</p>
      <div class="session-list card">
        <${VirtualList} rowHeight=${innerWidth <= 720 ? 96 : 62} listKey=${[user, agent, order, range.from, range.to].join("|")} reloadKey=${version} loadPage=${loadPage} keyOf=${(session) => session.id}
          label="Sessions" onSelect=${(session) => goTo(hrefTo("sessions", session.id))} onCount=${(count, isAll) => setCounted({ count, isAll })}
          renderRow=${(session) => html`<${SessionRow} session=${session} />`}
          empty=${user || agent || range.from || range.to
            ? html`<${Empty} title="No sessions" hint="No session matches these filters."><button type="button" onClick=${() => turn({ user: "", agent: "", from: "", to: "" })}>Show all</button><//>`
            : html`<${FirstSteps} title="No sessions" hint="The first message to an agent starts a session."><a class="button" href="#chat">Open the chat</a><//>`} />
      </div>`}
  </div>`;
}

function SessionRow({ session }) {
  const name = useUserName(session.user_id, session.user_name);
  return html`<div class="session-row">
  <div class="session-row-what"><${Line} className="session-line-title" value=${titleOf(session)} /><${Line} className="small soft" value=${session.preview} max=${300} empty="no text" /></div>
  <div class="session-row-name"><${Line} value=${`${name} · ${session.agent}`} />${session.is_current && html`<span class="tag accent">current</span>`}${session.parent_id && html`<span class="tag">follows another</span>`}</div>
  <div class="session-row-size">${plural(session.messages_count ?? 0, "message")}</div>
  <${Folded} session=${session} />
  <div class="session-row-when soft"><${Time} at=${session.active_at ?? session.created_at} /><div class="small">stored <${Time} at=${session.created_at} /></div></div>
</div>`;
}

/** How much of a session is compacted. */
function Folded({ session }) {
  const all = session.messages_count || 0, compacted = session.compacted_through || 0;
  return html`<div class="session-row-folded" title=${`${number(compacted)} of ${plural(all, "message")} compacted`}>
    <span class="bar-track" role="img" aria-label=${`${number(compacted)} of ${number(all)} compacted`}><i class="bar-part is-digest" style=${{ width: `${all ? (100 * compacted) / all : 0}%` }}></i><i class="bar-part is-tail" style=${{ width: `${all ? (100 * (all - compacted)) / all : 0}%` }}></i></span>
  </div>`;
}

/** The sessions whose own title holds the question, above the messages; nothing where there is none. */
function Titled({ question, user, agent }) {
  const found = useLoad(({ signal }) => get("/api/sessions", { title: question.slice(0, MOST_TITLE_CHARS), user, agent, limit: MOST_TITLED + 1, previews: true }, { signal }), [question, user, agent]);
  const sessions = found.data?.sessions || [];
  useWithdrawals((one) => one.part === "title" || sessions.some(({ id }) => id === one.session_id), found);
  if (found.problem) return html`<${Failure} problem=${found.problem} retry=${found.reload} />`;
  return sessions.length > 0 && html`<p class="soft small count-line" role="status">${sessions.length > MOST_TITLED ? `The newest ${MOST_TITLED} sessions with this title` : `${plural(sessions.length, "session")} with this title`}</p>
    <section class="card" aria-label="Sessions with this title"><${SessionLines} sessions=${sessions.slice(0, MOST_TITLED)} /></section>`;
}

/** The messages that a question finds: of one user, or of all users. */
function Hits({ question, user, agent, only: chosen }) {
  const only = { role: chosen.role || undefined, ...readRange(chosen) };
  const { api_key: key } = useWho(), isAll = !user && key.scope === "admin";
  if (!user && key.scope.startsWith("agent:")) return html`<div class="card"><${Empty} title="Choose a user" hint="This API key can search the messages of one user at a time." /></div>`;
  return isAll ? html`<${HitsOfAll} key=${JSON.stringify([question, agent, only])} question=${question} agent=${agent} only=${only} />` : html`<${HitsOfUser} question=${question} user=${user} agent=${agent} only=${only} />`;
}

function HitsOfUser({ question, user, agent, only }) {
  const found = useLoad(({ signal }) => get("/api/search", { q: question, user, agent, in: "messages", limit: MOST_HITS, ...only }, { signal }), [question, user, agent, only]);
  useWithdrawals((one) => isOfHits(one, found.data?.messages), found);
  return html`<${Loaded} load=${found}>${({ messages }) => html`<${HitList} hits=${messages} said=${messages.length === MOST_HITS ? `The ${MOST_HITS} best messages` : plural(messages.length, "message")} hint="No message matches. Search compares words, and also meaning when an embedder is configured." />`}<//>`;
}

/** Whether a change took words out of a session with hits. */
const isOfHits = (one, hits = []) => isWithdrawal(one) && hits.some((hit) => hit.session_id === one.session_id);

/** Messages of all users that hold every word: looks through them by itself until the page is full or it is stopped. */
function HitsOfAll({ question, agent, only }) {
  const [found, setFound] = useState(UNASKED);
  const stop = useRef();
  const goOn = async ({ hits, users, cursor }, limit, signal) => {
    const page = await getUnlessStopped("/api/search/messages", { q: question, agent, limit, ...only, cursor }, signal);
    return page && { hits: [...hits, ...page.messages], users: users + page.users_count, cursor: page.next_cursor };
  };
  const search = useAction(async () => {
    const { signal } = (stop.current = new AbortController()), enough = found.hits.length + MOST_HITS;
    let now = found;
    do {
      now = await goOn(now, enough - now.hits.length, signal);
      if (!now) return;
      setFound(now);
    } while (now.cursor && now.hits.length < enough);
  });
  const again = useAction(async () => { // as far as before, or as it is stopped; the old hits stay until then
    const { signal } = (stop.current = new AbortController());
    let now = { ...UNASKED, cursor: "" }, next;
    do now = (next = await goOn(now, MOST_HITS, signal)) || now;
    while (next?.cursor && (found.cursor === null || now.users < found.users));
    setFound(now);
  });
  const isBusy = search.isBusy || again.isBusy;
  useWithdrawals((one) => isOfHits(one, found.hits), { isLoading: isBusy, reload: again.run });
  useEffect(() => { search.run(); return () => stop.current?.abort(); }, []);
  const { hits, users, cursor } = found, isWhole = cursor === null;
  if (again.problem) return html`<${Failure} problem=${again.problem} retry=${again.run} />`;
  if (cursor === undefined) return search.problem ? html`<${Failure} problem=${search.problem} retry=${search.run} />` : html`<${Loading} />`;
  const looked = isWhole ? (users === 1 ? "the only user" : `all ${number(users)} users`) : `the first ${plural(users, "user")}`;
  return html`<${HitList} hits=${hits} said=${`${plural(hits.length, "message")} of ${looked}`} hint=${isWhole && "No message holds all of these words."} />
    <${Failure} problem=${search.problem} />
    ${(isBusy || !isWhole) && html`<div class="more-row" aria-busy=${isBusy ? "true" : undefined}>${isBusy
      ? html`<${Spinner} /> <button type="button" onClick=${() => stop.current.abort()}>Stop</button>`
      : html`<button type="button" onClick=${search.run}>Search more users</button>`}</div>`}`;
}

/** What a path gives, or null once it was stopped. */
async function getUnlessStopped(path, params, signal) {
  try {
    return await get(path, params, { signal });
  } catch (problem) {
    if (problem.name === "AbortError") return null;
    throw problem;
  }
}

const HitList = ({ hits, said, hint }) => html`<p class="soft small count-line" role="status">${said}</p>
  ${hits.length ? html`<ul class="hits card" aria-label="Messages found">${hits.map((hit) => html`<li key=${`${hit.session_id}:${hit.seq}`}>
    <a href=${hrefTo("sessions", hit.session_id, "log", { seq: hit.seq })}>
      <span class="row"><b>#${number(hit.seq)}</b> <span class="role">${hit.role}</span>${hit.user_name !== undefined && html` <${Line} className="small" value=${hit.user_name} empty="no name" />`} <span class="soft small mono">${hit.session_id.slice(-8)}</span><span class="grow"></span><span class="soft small"><${Time} at=${hit.said_at} /></span></span>
      <${Line} value=${hit.excerpt} max=${400} as="div" />
    </a></li>`)}</ul>` : hint && html`<div class="card"><${Empty} title="Nothing found" hint=${hint} /></div>`}`;
