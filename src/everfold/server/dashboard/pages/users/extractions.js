// The extraction audit: what each pass over messages found, newest first. It is kept after a session is deleted.

import { get, pathOf } from "../../lib/api.js";
import { number } from "../../lib/format.js";
import { Busy, Empty, Failure, hrefTo, html, Line, Loading, Table, Tag, Time } from "../../lib/ui.js";
import { usePages } from "./items.js";
import { useMemoryNews } from "./news.js";

const LISTS = [["facts", "Facts"], ["preferences", "Preferences"], ["decisions", "Decisions"], ["tasks", "Tasks"], ["open_items", "Open items"]];

export function Extractions({ user }) {
  const list = usePages(cursor => get(pathOf`/api/users/${user.id}/extractions`, { cursor, limit: 100 }), [user.id], page => page.entries);
  useMemoryNews(user, list.reload, ["extractions"]);
  return html`
    <section class="card" aria-label="Extraction audit">
      <${Failure} problem=${list.problem?.status === 0 ? null : list.problem} retry=${list.reload} />
      ${list.items === null && !list.problem && html`<${Loading} lines=${8} />`}
      ${list.items?.length === 0 && html`<${Empty} title="No extractions yet" hint="Extraction finds facts, preferences, decisions, tasks and open items in messages." />`}
      ${list.items?.length > 0 && html`<${Table} caption="What each extraction found" columns=${COLUMNS} rows=${list.items} />`}
      ${list.hasMore && html`<div class="more-row"><${Busy} isBusy=${list.isLoading} onClick=${list.more}>Show more<//></div>`}
    </section>`;
}

const COLUMNS = [
  { title: "Time", cell: entry => html`<${Time} at=${entry.at} />` },
  { title: "Agent", className: "cell-line", cell: entry => html`<${Line} value=${entry.agent} />` },
  { title: "Session", cell: entry => html`<span class="row">${entry.session_deleted
    ? html`<s class="mono small soft">${String(entry.session_id).slice(-8)}</s><${Tag} kind="warn" title="The session was deleted; its extractions stay listed">deleted<//>`
    : html`<a class="mono small" href=${hrefTo("sessions", entry.session_id, "log", { seq: entry.first_seq })}>${String(entry.session_id).slice(-8)}</a>`}
    ${entry.first_seq != null && html`<span class="small soft nowrap">${entry.first_seq === entry.last_seq ? number(entry.first_seq) : `${number(entry.first_seq)}–${number(entry.last_seq)}`}</span>`}</span>` },
  { title: "By", cell: entry => html`<span class="small soft">${entry.by}</span>` },
  ...LISTS.map(([name, title]) => ({ title, isNumber: true, cell: entry => html`<span class=${entry.counts[name] ? "" : "soft"}>${number(entry.counts[name] ?? 0)}</span>` })),
  { title: "Refused", isNumber: true, cell: entry => { const count = Array.isArray(entry.refused) ? entry.refused.length : entry.refused ?? 0; return html`<span class=${count ? "warn" : "soft"}>${number(count)}</span>`; } },
];
