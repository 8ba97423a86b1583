// The extraction audit: what each pass over messages found, newest first. It is kept after a session is deleted.

import { get, pathOf } from "../../lib/api.js";
import { number } from "../../lib/format.js";
import { Busy, Empty, Failure, hrefTo, html, Line, Loading, Tag, Time } from "../../lib/ui.js";
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
      ${list.items?.length === 0 && html`<${Empty} title="No extractions yet" hint="Extraction finds facts, preferences, decisions, tasks and open items in folded messages." />`}
      ${list.items?.length > 0 && html`
        <div class="table-box"><table>
          <caption class="unseen">What each extraction found</caption>
          <thead><tr><th scope="col">Time</th><th scope="col">Agent</th><th scope="col">Session</th><th scope="col">By</th>${LISTS.map(([name, title]) => html`<th key=${name} scope="col" class="number">${title}</th>`)}<th scope="col" class="number">Refused</th></tr></thead>
          <tbody>${list.items.map(entry => html`<${Entry} key=${entry.id} entry=${entry} />`)}</tbody>
        </table></div>`}
      ${list.hasMore && html`<div class="more-row"><${Busy} isBusy=${list.isLoading} onClick=${list.more}>Show more<//></div>`}
    </section>`;
}

const Entry = ({ entry }) => html`
  <tr>
    <td><${Time} at=${entry.at} /></td>
    <td class="cell-line"><${Line} value=${entry.agent} /></td>
    <td><span class="row">${entry.session_deleted
      ? html`<s class="mono small soft">${String(entry.session_id).slice(-8)}</s><${Tag} kind="warn" title="The session was deleted; its extractions stay listed">deleted<//>`
      : html`<a class="mono small" href=${hrefTo("sessions", entry.session_id, "log", { seq: entry.first_seq })}>${String(entry.session_id).slice(-8)}</a>`}
      ${entry.first_seq != null && html`<span class="small soft nowrap">${number(entry.first_seq)}–${number(entry.last_seq)}</span>`}</span></td>
    <td><span class="small soft">${entry.by}</span></td>
    ${LISTS.map(([name]) => html`<td key=${name} class=${`number ${entry.counts[name] ? "" : "soft"}`}>${number(entry.counts[name] ?? 0)}</td>`)}
    <td class=${`number ${entry.refused ? "warn" : "soft"}`}>${number(Array.isArray(entry.refused) ? entry.refused.length : entry.refused ?? 0)}</td>
  </tr>`;
