// Users: the list of all users, and the memory of one.

import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { download, errorsByField, get, getTagged, pathOf, send } from "../lib/api.js";
import { day, plural } from "../lib/format.js";
import { VirtualList } from "../lib/virtual.js";
import { Busy, Dialog, Empty, Failure, Field, goTo, hrefTo, html, Icon, Id, Line, Loaded, RailPage, Search, Tabs, Tag, Time, toast, useAction, useDebounced, useLoad, useWho } from "../lib/ui.js";
import { FirstSteps } from "./first_steps.js";
import { Audit } from "./users/audit.js";
import { Dreams } from "./users/dreams.js";
import { Extractions } from "./users/extractions.js";
import { Files } from "./users/files.js";
import { Memory } from "./users/memory.js";
import { Quarantine } from "./users/quarantine.js";
import { raceFor, Versions } from "./users/race.js";
import { UserSessions } from "./users/sessions.js";
import { WipeDialog } from "./users/wipe.js";

const TABS = [
  ["memory", "Memory", Memory],
  ["sessions", "Sessions", UserSessions],
  ["extractions", "Extraction audit", Extractions],
  ["dreams", "Dreams", Dreams],
  ["quarantine", "Quarantine", Quarantine],
  ["files", "Files", Files],
  ["audit", "Audit", Audit],
];

export default function Page({ path, params }) {
  const [isAdding, setAdding] = useState(false);
  const [changes, setChanges] = useState(0);
  const [id, tab = "memory"] = path;
  const added = ({ data: user }) => { setAdding(false); setChanges(changes + 1); goTo(hrefTo("users", user.id)); };
  return html`
    <${RailPage} label="Users" hasDetail=${Boolean(id)} backHref="#users" backLabel="All users"
      rail=${html`<${Rail} selected=${id} changes=${changes} onAdd=${() => setAdding(true)} />`}>
      ${id
        ? html`<${UserDetail} key=${id} id=${id} tab=${tab} params=${params} onChanged=${() => setChanges(changes + 1)} />`
        : html`<${Empty} title="Choose a user" hint="See what is remembered, where it comes from and how it changed. Press / to search." />`}
    <//>
    ${isAdding && html`<${UserForm} onClose=${() => setAdding(false)} onSaved=${added} />`}`;
}

function Rail({ selected, changes, onAdd }) {
  const [query, setQuery] = useState("");
  const asked = useDebounced(query.trim(), 180);
  const [known, setKnown] = useState(null);
  const [defaultId, setDefaultId] = useState(null);
  const { api_key: key } = useWho();
  const loadPage = async cursor => {
    const page = await get("/api/users", { q: asked, cursor, limit: 100 });
    setDefaultId(page.default_user_id);
    return { items: page.users, nextCursor: page.next_cursor };
  };
  const chosen = selected === "default" ? defaultId : selected;
  return html`
    <div class="rail-head">
      <div class="row between"><h1 class="rail-title">Users <span class="soft small" aria-live="polite">${known && (known.isAll ? plural(known.count, "user") : `${known.count}+`)}</span></h1>
        ${key.scope === "admin" && !key.read_only && html`<button type="button" onClick=${onAdd}><${Icon} name="plus" />New</button>`}</div>
      <${Search} label="Search users by name" placeholder="Search by name" value=${query} onInput=${setQuery} />
    </div>
    <${VirtualList} label="Users" rowHeight=${58} loadPage=${loadPage} listKey=${asked} reloadKey=${changes} selected=${chosen}
      onSelect=${user => goTo(hrefTo("users", user.id))} onCount=${(count, isAll) => setKnown({ count, isAll })}
      renderRow=${user => html`<${UserRow} user=${user} />`}
      empty=${asked ? html`<${Empty} title="No user with this name" hint="The search compares display names." />` : html`<${FirstSteps} title="No users yet" hint="A user is added with their first message." />`} />`;
}

const UserRow = ({ user }) => html`
  <div class="user-row">
    <div class="row"><${Line} className="grow user-name" value=${user.name} empty="No name" />${user.is_default && html`<span class="tag accent">default</span>`}</div>
    <${Line} className="small soft" value=${user.bindings.length ? user.bindings.join(", ") : user.id} />
  </div>`;

function UserDetail({ id, tab, params, onChanged }) {
  const load = useLoad(({ signal }) => getTagged(pathOf`/api/users/${id}`, null, { signal }), [id]);
  return html`<${Loaded} load=${load} lines=${6}>${({ data: user, etag }) => html`
    <${UserHead} user=${user} etag=${etag} onChanged=${changed => { load.setData(changed); onChanged(); }} />
    <${UserTabs} user=${user} id=${id} tab=${tab} params=${params} />`}<//>`;
}

function UserTabs({ user, id, tab, params }) {
  const [, label, Shown] = TABS.find(([name]) => name === tab) || [];
  const tabs = TABS.map(([name, title]) => ({ id: name, label: title, href: hrefTo("users", id, name) }));
  return html`
    <${Tabs} label="About this user" current=${tab} tabs=${tabs} />
    ${Shown ? html`<div role="tabpanel" aria-label=${label}><${Shown} user=${user} id=${id} params=${params} /></div>` : html`<${Empty} title="Tab not found" />`}`;
}

function UserHead({ user, etag, onChanged }) {
  const [open, setOpen] = useState("");
  const { api_key: key } = useWho();
  const save = useAction(async () => {
    const fallback = `memory_${user.id}_${day(Date.now()).replaceAll("-", "")}.json`;
    toast(`Saved ${await download(pathOf`/api/users/${user.id}/memory/export`, null, fallback)}`);
  });
  return html`
    <header class="user-head">
      <div class="grow">
        <h1 class="row"><${Line} value=${user.name} empty="No name" />${user.is_default && html`<span class="tag accent" title="The user named “default” in the API">default</span>`}</h1>
        <div class="row wrap small soft"><${Id} value=${user.id} label="user id" /><span>since <${Time} at=${user.created_at} /></span>
          ${user.bindings.slice(0, 8).map(binding => html`<${Tag} key=${binding} title="A binding: the address of this user on a channel">${binding.slice(0, 80)}<//>`)}
          ${user.bindings.length > 8 && html`<span>and ${user.bindings.length - 8} more</span>`}</div>
      </div>
      <div class="actions">
        ${key.scope === "admin" && !key.read_only && html`<button type="button" onClick=${() => setOpen("edit")}>Rename…</button>`}
        <${Busy} isBusy=${save.isBusy} onClick=${save.run}>Export<//>
        ${!key.read_only && html`<button type="button" class="danger" onClick=${() => setOpen("wipe")}>Delete all…</button>`}
      </div>
    </header>
    <${Failure} problem=${save.problem} title="The export failed" />
    ${open === "edit" && html`<${UserForm} known=${{ data: user, etag }} onClose=${() => setOpen("")} onSaved=${changed => { setOpen(""); onChanged(changed); }} />`}
    ${open === "wipe" && html`<${WipeDialog} user=${user} onClose=${() => setOpen("")} />`}`;
}

const BLANK = { data: { name: "", bindings: [] }, etag: null };
const listBindings = user => user.bindings.join("\n");
const describeUser = user => `${user.name}\n${listBindings(user)}`;

/** Add a user, or change the name and the bindings of a known one ({data, etag}). What is not edited is not sent. */
function UserForm({ known = null, onClose, onSaved }) {
  const [base, setBase] = useState(known || BLANK), [isLost, setLost] = useState(false);
  const [name, setName] = useState(base.data.name), [bindings, setBindings] = useState(listBindings(base.data));
  const isRenamed = name !== base.data.name, isRebound = bindings !== listBindings(base.data);
  const given = { ...(isRenamed && { name }), ...(isRebound && { bindings: bindings.split("\n").map(one => one.trim()).filter(Boolean) }) };
  const path = known && pathOf`/api/users/${known.data.id}`;
  const write = async () => onSaved(await (known ? send("PATCH", path, given, { etag: base.etag }) : send("POST", "/api/users", given)));
  const lose = async () => {
    const stored = await getTagged(path);
    if (!isRenamed) setName(stored.data.name);
    if (!isRebound) setBindings(listBindings(stored.data));
    setBase(stored);
    setLost(true);
  };
  const save = useAction(async () => { if (await raceFor(write, lose)) toast(known ? "Saved" : "The user was added"); });
  const takeTheirs = () => { setName(base.data.name); setBindings(listBindings(base.data)); setLost(false); };
  const errors = errorsByField(save.problem);
  const bindingError = Object.entries(errors).find(([field]) => field.startsWith("bindings"))?.[1];
  return html`
    <${Dialog} title=${known ? "Name and bindings" : "New user"} onClose=${onClose} size="narrow">
      <form class="form" onSubmit=${event => { event.preventDefault(); save.run(); }}>
        ${isLost && html`<${Versions} what="user" note="Your change was not saved: it was based on an older version." stored="Stored now" theirs=${describeUser(base.data)} title="With your change" own=${describeUser({ ...base.data, ...given })}>
          <button type="button" onClick=${() => onSaved(base)}>Keep theirs</button><button type="button" onClick=${takeTheirs}>Edit from theirs</button><//>`}
        <${Field} label="Name" error=${errors.name}>${attrs => html`<input ...${attrs} name="name" dir="auto" autofocus required maxlength="2000" value=${name} onInput=${event => setName(event.target.value)} />`}<//>
        <${Field} label="Bindings" hint="Addresses of this user, one per line, as channel:id. For example telegram:12345." error=${bindingError}>${attrs => html`
          <textarea ...${attrs} name="bindings" rows="3" spellcheck=${false} value=${bindings} onInput=${event => setBindings(event.target.value)}></textarea>`}<//>
        ${save.problem && !errors.name && !bindingError && html`<${Failure} problem=${save.problem} />`}
        <div class="actions end"><button type="button" onClick=${onClose}>Cancel</button><${Busy} type="submit" className="primary" isBusy=${save.isBusy}>${isLost ? "Save mine over theirs" : "Save"}<//></div>
      </form>
    <//>`;
}
