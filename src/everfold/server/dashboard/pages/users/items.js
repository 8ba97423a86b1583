// The items of a user: by kind and tier, with search and a form to add one.

import { useEffect, useRef, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, get, pathOf, send } from "../../lib/api.js";
import { words } from "../../lib/format.js";
import { Busy, Dialog, Empty, Failure, Field, hrefTo, html, Icon, Line, Loading, Search, Tag, Time, toast, useAction, useDebounced, useLoad, useWho } from "../../lib/ui.js";
import { StatusTag, TierTag } from "./parts.js";

export const KINDS = { fact: "Facts", preference: "Preferences", decision: "Decisions", task: "Tasks", open_item: "Open items" };
const STATUSES = { active: "Active", superseded: "Superseded", expired: "Expired", quarantined: "Quarantined" };
const PAGE = 100;

export function Items({ user, id, changes, onChanged }) {
  const [query, setQuery] = useState("");
  const [filter, setFilter] = useState({ kind: "", tier: "", status: "active" });
  const [isAdding, setAdding] = useState(false);
  const q = useDebounced(query.trim(), 200);
  const { api_key: key } = useWho();
  const list = usePages(cursor => get(pathOf`/api/users/${user.id}/items`, { ...filter, q, cursor, limit: PAGE }), [user.id, filter, q], page => page.items);
  useEffect(() => { if (changes) list.reload(); }, [changes]);
  const set = name => event => setFilter({ ...filter, [name]: event.target.value });
  const isFiltered = q || filter.kind || filter.tier || filter.status !== "active";
  return html`
    <section class="card" aria-label="Items">
      <div class="card-head"><h2>Items ${list.items && html`<span class="soft small">${list.items.length}${list.hasMore ? "+" : ""}</span>`}</h2>
        ${!key.read_only && html`<button type="button" onClick=${() => setAdding(true)}><${Icon} name="plus" />Add an item</button>`}</div>
      <div class="item-filters">
        <${Search} label="Search items" placeholder="Search statements" value=${query} onInput=${setQuery} />
        <select aria-label="Kind" value=${filter.kind} onChange=${set("kind")}><option value="">All kinds</option>${Object.entries(KINDS).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}</select>
        <select aria-label="Tier" value=${filter.tier} onChange=${set("tier")}><option value="">Both tiers</option><option value="user">About the user</option><option value="agent">Noted by agents</option></select>
        <select aria-label="Status" value=${filter.status} onChange=${set("status")}>${Object.entries(STATUSES).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}</select>
      </div>
      <${Failure} problem=${list.problem?.status === 0 ? null : list.problem} retry=${list.reload} />
      ${list.items === null && !list.problem && html`<${Loading} lines=${6} />`}
      ${list.items?.length === 0 && (isFiltered
        ? html`<${Empty} title="No matching items" hint="No item matches these filters." />`
        : html`<${Empty} title="No items yet" hint="Items are extracted from messages as they arrive, or added here." />`)}
      ${list.items && groupItems(list.items).map(group => html`<${Group} key=${group.key} group=${group} id=${id} hasMore=${list.hasMore} />`)}
      ${list.hasMore && html`<div class="more-row"><${Busy} isBusy=${list.isLoading} onClick=${list.more}>Show more<//></div>`}
    </section>
    ${isAdding && html`<${AddItem} user=${user} onClose=${() => setAdding(false)} onAdded=${() => { setAdding(false); onChanged(); }} />`}`;
}

/** Items by tier (the user first, then each agent) and kind, in the order of KINDS. */
export function groupItems(items) {
  const groups = new Map();
  for (const item of items) {
    const owner = item.tier === "agent" ? item.agent || "" : "";
    const key = `${item.tier} ${owner} ${item.kind}`;
    if (!groups.has(key)) groups.set(key, { key, tier: item.tier, agent: owner, kind: item.kind, items: [] });
    groups.get(key).items.push(item);
  }
  const kinds = Object.keys(KINDS);
  const rank = group => [group.tier === "user" ? 0 : 1, group.agent, kinds.indexOf(group.kind)];
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  return [...groups.values()].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return compare(x[0], y[0]) || compare(x[1], y[1]) || compare(x[2], y[2]);
  });
}

const Group = ({ group, id, hasMore }) => html`
  <div class="item-group">
    <h3 class="row wrap"><span>${KINDS[group.kind] || words(group.kind)}</span><span class="soft small">${group.items.length}${hasMore ? "+" : ""}</span><${TierTag} tier=${group.tier} agent=${group.agent} /></h3>
    <ul class="items">${group.items.map(item => html`
      <li key=${item.id}><a class="item" href=${hrefTo("users", id, "memory", { item: item.id })}>
        <${Line} className="item-statement" value=${item.statement} max=${600} empty="Erased" />
        <span class="item-meta small soft">
          ${item.is_block && html`<${Tag} kind="accent" title="Part of the memory block that is always in the window">always shown<//>`}
          ${item.status !== "active" && html`<${StatusTag} status=${item.status} />`}
          ${item.origin !== "user" && html`<${Tag} title="Origin">${item.origin}<//>`}
          <${Time} at=${item.last_seen_at || item.recorded_at} />
        </span></a></li>`)}</ul>
  </div>`;

/** Pages of a list, one after the other: {items, hasMore, isLoading, problem, more, reload}. A reload loads as many again. */
export function usePages(fetchPage, deps, itemsOf) {
  const key = JSON.stringify(deps);
  const wanted = useWanted(key);
  const load = useLoad(async () => {
    let items = [], cursor = null, count = 0;
    do {
      const page = await fetchPage(cursor);
      items = [...items, ...itemsOf(page)];
      cursor = page.next_cursor;
    } while (cursor && ++count < wanted.current);
    return { items, cursor };
  }, [key]);
  const more = useAction(async () => {
    const page = await fetchPage(load.data.cursor);
    wanted.current++;
    load.setData(old => ({ items: [...old.items, ...itemsOf(page)], cursor: page.next_cursor }));
  });
  return {
    items: load.data?.items ?? null,
    hasMore: Boolean(load.data?.cursor),
    isLoading: load.isLoading || more.isBusy,
    problem: load.problem || more.problem,
    more: more.run,
    reload: load.reload,
  };
}
function useWanted(key) {
  const ref = useRef({ key, current: 1 });
  if (ref.current.key !== key) ref.current = { key, current: 1 };
  return ref.current;
}

function AddItem({ user, onClose, onAdded }) {
  const [given, setGiven] = useState({ statement: "", kind: "fact", tier: "user", agent: "", valid_to: "" });
  const agents = useLoad(({ signal }) => get("/api/agents", null, { signal }).then(found => found.agents), []);
  const set = name => event => setGiven({ ...given, [name]: event.target.value });
  const add = useAction(async () => {
    const body = { statement: given.statement, kind: given.kind, tier: given.tier };
    if (given.tier === "agent") body.agent = given.agent || agents.data?.[0]?.id;
    if (given.valid_to) body.valid_to = new Date(given.valid_to).toISOString();
    await send("POST", pathOf`/api/users/${user.id}/items`, body);
    toast("Remembered");
    onAdded();
  });
  const errors = errorsByField(add.problem);
  return html`
    <${Dialog} title="Add an item" onClose=${onClose}>
      <form class="form" onSubmit=${event => { event.preventDefault(); add.run(); }}>
        <${Field} label="Statement" hint="One sentence. It is stored word for word." error=${errors.statement}>${attrs => html`
          <textarea ...${attrs} name="statement" dir="auto" autofocus required rows="3" value=${given.statement} onInput=${set("statement")}></textarea>`}<//>
        <div class="form-row">
          <${Field} label="Kind" error=${errors.kind}>${attrs => html`<select ...${attrs} value=${given.kind} onChange=${set("kind")}>${Object.keys(KINDS).map(kind => html`<option key=${kind} value=${kind}>${words(kind)}</option>`)}</select>`}<//>
          <${Field} label="Tier" error=${errors.tier}>${attrs => html`<select ...${attrs} value=${given.tier} onChange=${set("tier")}><option value="user">about the user</option><option value="agent">noted by an agent</option></select>`}<//>
          ${given.tier === "agent" && html`<${Field} label="Agent" error=${errors.agent}>${attrs => agents.data
            ? html`<select ...${attrs} value=${given.agent} onChange=${set("agent")}>${agents.data.map(agent => html`<option key=${agent.id} value=${agent.id}>${agent.id}</option>`)}</select>`
            : html`<input ...${attrs} required value=${given.agent} onInput=${set("agent")} />`}<//>`}
          <${Field} label="Valid until" hint="Empty: no end date." error=${errors.valid_to}>${attrs => html`<input ...${attrs} type="date" value=${given.valid_to} onInput=${set("valid_to")} />`}<//>
        </div>
        ${add.problem && Object.keys(errors).length === 0 && html`<${Failure} problem=${add.problem} />`}
        <div class="actions end"><button type="button" onClick=${onClose}>Cancel</button><${Busy} type="submit" className="primary" isBusy=${add.isBusy}>Remember<//></div>
      </form>
    <//>`;
}
