// The log as a list of any length, one row a message, with the chosen message beside it.
import { useMemo, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../lib/api.js";
import { number } from "../lib/format.js";
import { isWithdrawal, useWithdrawals } from "../lib/live.js";
import { Empty, Failure, html, Line, Loading, Search, Time, useDebounced, useLoad } from "../lib/ui.js";
import { VirtualList } from "../lib/virtual.js";
import { FateChip, fateName } from "./fates.js";
import { MessagePanel } from "./session_message.js";
import { useNews } from "./session_news.js";
import { fateAt, indexStrip } from "./session_strips.js";

const ROW_PX = 66;
const PAGE = 60;
const MOST_HITS = 200;

export function LogTab({ session, seq, count, tick, onJump, onClose, onChanged, onSession }) {
  const id = session.id;
  const strips = useLoad(() => get(pathOf`/api/sessions/${id}/strips`, { limit: 1 }), [id]);
  const [version, setVersion] = useState(0);
  const [question, setQuestion] = useState("");
  useNews(id, () => { strips.reload(); setVersion((old) => old + 1); }, tick);
  const now = useMemo(() => {
    const found = strips.data?.strips.find((strip) => strip.compaction_id === null);
    return found ? indexStrip(found) : null;
  }, [strips.data]);
  const loadPage = async (first, limit) => {
    const last = Math.min(first + limit, count);
    const page = await get(pathOf`/api/sessions/${id}/messages`, { first: first + 1, last });
    const bySeq = new Map(page.messages.map((message) => [message.seq, message]));
    return Array.from({ length: last - first }, (_, at) => bySeq.get(first + at + 1) || { seq: first + at + 1, is_erased: true });
  };
  const erased = () => { setVersion((old) => old + 1); onChanged(); };
  const list = html`<${VirtualList} count=${count} rowHeight=${ROW_PX} pageSize=${PAGE} listKey=${id} reloadKey=${`${version}:${count}`} loadPage=${loadPage}
    keyOf=${(message) => message.seq} selected=${seq} scrollTo=${seq ? Math.min(seq, count) - 1 : null} onSelect=${(message) => onJump(message.seq)}
    label="Messages of the log" renderRow=${(message) => html`<${LogRow} message=${message} fate=${now && !message.is_retracted && fateAt(now, message.seq)} />`}
    empty=${html`<${Empty} title="No messages yet" hint="Messages appear here as soon as they are stored." />`} />`;
  return html`<div class=${`log-tab${seq ? " with-message" : ""}`}>
    <div class="log-side">
      <div class="log-tools">
        <${Search} label="Search this session" value=${question} onInput=${setQuestion} />
        <${GoTo} count=${count} onJump=${onJump} />
      </div>
      <div class="log-list card">${question.trim() ? html`<${Found} sessionId=${id} question=${question.trim()} onJump=${(to) => { setQuestion(""); onJump(to); }} />` : list}</div>
    </div>
    <div class="log-read">
      ${seq && seq <= count ? html`<${MessagePanel} key=${seq} sessionId=${id} seq=${seq} strip=${now} fate=${now && fateAt(now, seq)} compactions=${[]} version=${version} isStacked=${true}
          onJump=${onJump} onClose=${onClose} onErased=${erased} onSession=${onSession} />`
        : html`<div class="card card-pad wide-only"><${Empty} title="Choose a message" hint="The full message appears here with its extract lines and its digest." /></div>`}
    </div>
  </div>`;
}

const LogRow = ({ message, fate }) => html`<div class="log-row">
  <i class=${`edge is-${message.is_erased ? "erased" : fate || "open"}`} aria-hidden="true"></i>
  <div class="log-head"><b>#${number(message.seq)}</b> <span class=${`role role-${message.origin || message.role}`}>${message.is_erased ? "erased" : roleOf(message)}</span>
    ${message.is_retracted && html`<span class="tag">retracted</span>`}
    <span class="grow"></span>${!message.is_erased && html`<span class="soft small">${number(message.tokens)} tok</span>`}
    ${message.said_at && html`<span class="soft small"><${Time} at=${message.said_at} /></span>`}${fate && html`<span class="unseen">${fateName(fate)}</span>`}</div>
  <${Line} className="log-text" value=${message.is_erased ? "Erased. Only its number remains." : message.text} empty=${message.parts?.length ? message.parts.map((part) => part.kind).join(", ") : "no text"} max=${400} as="div" />
</div>`;

/** The role of a message, with its origin and source where they differ. */
export function roleOf(message) {
  const origin = message.origin && message.origin !== message.role ? ` (${message.origin})` : "";
  const source = message.source && message.source !== "said" ? `, ${message.source}` : "";
  return `${message.role}${origin}${source}`;
}

function GoTo({ count, onJump }) {
  const [wanted, setWanted] = useState("");
  return html`<form class="go-to" onSubmit=${(event) => { event.preventDefault(); const to = Number(wanted); if (to >= 1) { onJump(Math.min(to, count)); setWanted(""); } }}>
    <input type="number" min="1" max=${count} inputmode="numeric" aria-label="Message number" placeholder="#" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
    <button type="submit">Go</button>
    <button type="button" onClick=${() => onJump(1)}>First</button>
    <button type="button" onClick=${() => onJump(count)}>Last</button>
  </form>`;
}

function Found({ sessionId, question, onJump }) {
  const late = useDebounced(question, 250);
  const found = useLoad(({ signal }) => get(pathOf`/api/sessions/${sessionId}/search`, { q: late, limit: MOST_HITS }, { signal }), [late, sessionId]);
  useWithdrawals((one) => isWithdrawal(one) && one.session_id === sessionId, found);
  if (found.problem) return html`<${Failure} problem=${found.problem} retry=${found.reload} />`;
  if (!found.data) return html`<div class="card-pad"><${Loading} /></div>`;
  const hits = found.data.messages;
  if (!hits.length) return html`<${Empty} title="Nothing found" hint="No message of this session matches." />`;
  return html`<ul class="hits" aria-label="Messages found">${hits.map((hit) => html`<li key=${hit.seq}><button type="button" onClick=${() => onJump(hit.seq)}>
    <span class="row"><b>#${number(hit.seq)}</b> <span class="role">${hit.role}</span><span class="grow"></span><span class="soft small"><${Time} at=${hit.said_at} /></span></span>
    <${Line} value=${hit.excerpt} max=${300} as="div" /></button></li>`)}</ul>`;
}
