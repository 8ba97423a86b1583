// The audit of a memory: who read, wrote or erased what, newest first.

import { useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../../lib/api.js";
import { number, words } from "../../lib/format.js";
import { Busy, Empty, Failure, html, Id, Line, Loading, Table, Tag, Time } from "../../lib/ui.js";
import { readRange, TimeRange } from "../time_range.js";
import { usePages } from "./items.js";

const ACTIONS = ["read", "write", "extract", "dream", "refuse", "release", "erase", "wipe", "export", "import"];
const KINDS = { erase: "warn", wipe: "bad" };
const MOST_ABOUT = 4;

export function Audit({ user }) {
  const [action, setAction] = useState(""), [range, setRange] = useState({ from: "", to: "" });
  const list = usePages(cursor => get(pathOf`/api/users/${user.id}/memory/audit`, { cursor, action, ...readRange(range), limit: 100 }), [user.id, action, range], page => page.entries);
  return html`
    <section class="card" aria-label="Audit">
      <div class="card-head"><h2>Audit</h2><span class="small soft">Reads, writes and erases: ids and counts, no text</span>
        <select class="audit-action" aria-label="Action" value=${action} onChange=${event => setAction(event.target.value)}><option value="">All actions</option>${ACTIONS.map(one => html`<option key=${one} value=${one}>${one}</option>`)}</select>
        <${TimeRange} ...${range} onChange=${setRange} /><button type="button" onClick=${list.reload}>Refresh</button></div>
      <${Failure} problem=${list.problem?.status === 0 ? null : list.problem} retry=${list.reload} />
      ${list.items === null && !list.problem && html`<${Loading} lines=${8} />`}
      ${list.items?.length === 0 && html`<${Empty} title="No entries" hint=${action || range.from || range.to ? "No entry matches these filters." : "Nothing was read or written yet."} />`}
      ${list.items?.length > 0 && html`<${Table} caption="Audit of this memory" columns=${COLUMNS} rows=${list.items.map((entry, at) => ({ ...entry, at_place: `${entry.at} ${at}` }))} keyOf=${entry => entry.at_place} />`}
      ${list.hasMore && html`<div class="more-row"><${Busy} isBusy=${list.isLoading} onClick=${list.more}>Show more<//></div>`}
    </section>`;
}

const COLUMNS = [
  { title: "Time", cell: entry => html`<${Time} at=${entry.at} />` },
  { title: "Action", cell: entry => html`<${Tag} kind=${KINDS[entry.action] || ""}>${words(entry.action)}<//>` },
  { title: "By", className: "cell-line", cell: entry => html`<${Line} value=${entry.actor} />` },
  { title: "Agent", className: "cell-line", cell: entry => html`<${Line} value=${entry.agent} />` },
  { title: "About", cell: entry => html`<span class="row wrap">${(entry.about || []).slice(0, MOST_ABOUT).map(one => (one.startsWith("/") ? html`<${Line} key=${one} className="mono small audit-path" value=${one.replace(/^\/api\/users\/[^/]+/, "…")} />` : html`<${Id} key=${one} value=${one} label="id" />`))}
    ${entry.about?.length > MOST_ABOUT && html`<span class="small soft">and ${number(entry.about.length - MOST_ABOUT)} more</span>`}${entry.session_deleted && html`<${Tag} kind="warn">session deleted<//>`}</span>` },
  { title: "Counts", cell: entry => html`<span class="small">${Object.entries(entry.counts || {}).filter(([, count]) => count).map(([name, count]) => `${number(count)} ${words(name)}`).join(", ") || "–"}</span>` },
];
