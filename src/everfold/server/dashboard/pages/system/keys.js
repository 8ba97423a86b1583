// API keys. A secret is shown once, when its API key is made.

import { useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, get, pathOf, send } from "../../lib/api.js";
import { Busy, Confirm, copy, Dialog, Empty, Failure, Field, html, Icon, Line, Loading, Table, Tag, Time, toast, useAction, useWho } from "../../lib/ui.js";
import { usePages } from "../users/items.js";

export function ApiKeys() {
  const list = usePages(cursor => get("/api/api-keys", { cursor, limit: 100 }), [], page => page.api_keys);
  const [isMaking, setMaking] = useState(false);
  const { api_key: key } = useWho();
  return html`
    <section class="card" aria-label="API keys">
      <div class="card-head"><h2>API keys</h2>${!key.read_only && html`<button type="button" onClick=${() => setMaking(true)}><${Icon} name="plus" />Create an API key</button>`}</div>
      <${Failure} problem=${list.problem?.status === 0 ? null : list.problem} retry=${list.reload} />
      ${list.items === null && !list.problem && html`<${Loading} />`}
      ${list.items?.length === 0 && html`<${Empty} title="No API keys" />`}
      ${list.items?.length > 0 && html`<${Table} caption="API keys" columns=${columnsOf(key, list.reload)} rows=${list.items} rowClass=${one => (isOver(one) ? "over" : "")} />`}
      ${list.hasMore && html`<div class="more-row"><${Busy} isBusy=${list.isLoading} onClick=${list.more}>Show more<//></div>`}
    </section>
    ${isMaking && html`<${MakeKey} onClose=${() => setMaking(false)} onMade=${list.reload} />`}`;
}

const isOver = one => Boolean(one.revoked_at || (one.expires_at && Date.parse(one.expires_at) < Date.now()));

const columnsOf = (key, onChanged) => [
  { title: "Name", className: "cell-line", cell: one => html`<span class="row wrap"><${Line} value=${one.name} />${one.id === key.id && html`<${Tag} kind="accent">this one<//>`}</span>` },
  { title: "Scope", className: "cell-line", cell: one => html`<span class="row wrap"><${Line} value=${one.scope} className="small" />${one.read_only && html`<${Tag}>read-only<//>`}</span>` },
  { title: "Made", cell: one => html`<${Time} at=${one.created_at} />` },
  { title: "Last used", cell: one => html`<${Time} at=${one.last_used_at} empty="never" />` },
  { title: "Expires", cell: one => (one.revoked_at ? html`<${Tag} kind="bad">revoked<//> <${Time} at=${one.revoked_at} />` : isOver(one) ? html`<${Tag} kind="warn">expired<//> <${Time} at=${one.expires_at} />` : html`<${Time} at=${one.expires_at} empty="never" />`) },
  { title: "Actions", titleHidden: true, cell: one => !one.revoked_at && !key.read_only && html`<${Revoke} one=${one} isOwn=${one.id === key.id} onChanged=${onChanged} />` },
];

function Revoke({ one, isOwn, onChanged }) {
  const [isAsked, setAsked] = useState(false);
  const revoke = async () => { await send("DELETE", pathOf`/api/api-keys/${one.id}`); toast("Revoked"); onChanged(); };
  return html`<button type="button" class="danger" aria-label=${`Revoke ${one.name}`} onClick=${() => setAsked(true)}>Revoke…</button>
    ${isAsked && html`<${Confirm} title="Revoke this API key?" confirmLabel="Revoke" onConfirm=${revoke} onClose=${() => setAsked(false)}
      text=${`Requests with ${one.name} are refused from now on. This cannot be undone.${isOwn ? " You are signed in with this API key and will be signed out." : ""}`} />`}`;
}

const LIVES = [["", "Never"], ["1", "In a day"], ["7", "In a week"], ["30", "In 30 days"], ["365", "In a year"]];

function MakeKey({ onClose, onMade }) {
  const [given, setGiven] = useState({ name: "", kind: "admin", whose: "", read_only: false, days: "" });
  const [made, setMade] = useState(null);
  const set = name => event => setGiven({ ...given, [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const make = useAction(async () => {
    const scope = given.kind === "admin" ? "admin" : `${given.kind}:${given.whose.trim()}`;
    const body = { name: given.name, scope, read_only: given.read_only };
    if (given.days) body.expires_in_days = Number(given.days);
    const { data } = await send("POST", "/api/api-keys", body);
    onMade();
    setMade(data);
  });
  const errors = errorsByField(make.problem);
  if (made) return html`<${Secret} made=${made} onClose=${onClose} />`;
  return html`
    <${Dialog} title="Create an API key" onClose=${onClose} size="narrow">
      <form class="form" onSubmit=${event => { event.preventDefault(); make.run(); }}>
        <${Field} label="Name" hint="The audit log uses this name." error=${errors.name}>${attrs => html`<input ...${attrs} name="key-name" autofocus required autocomplete="off" value=${given.name} onInput=${set("name")} />`}<//>
        <${Field} label="Scope" error=${errors.scope}>${attrs => html`<select ...${attrs} value=${given.kind} onChange=${set("kind")}>
          <option value="admin">all users and agents (admin)</option><option value="user">one user</option><option value="agent">one agent</option></select>`}<//>
        ${given.kind !== "admin" && html`<${Field} label=${given.kind === "user" ? "User's id" : "Agent's name"}>${attrs => html`<input ...${attrs} required autocomplete="off" spellcheck=${false} value=${given.whose} onInput=${set("whose")} />`}<//>`}
        <${Field} label="Expires" error=${errors.expires_in_days}>${attrs => html`<select ...${attrs} value=${given.days} onChange=${set("days")}>${LIVES.map(([days, title]) => html`<option key=${days} value=${days}>${title}</option>`)}</select>`}<//>
        <label class="check"><input type="checkbox" checked=${given.read_only} onChange=${set("read_only")} /> <span>Read-only</span></label>
        ${make.problem && Object.keys(errors).length === 0 && html`<${Failure} problem=${make.problem} />`}
        <div class="actions end"><button type="button" onClick=${onClose}>Cancel</button><${Busy} type="submit" className="primary" isBusy=${make.isBusy}>Create<//></div>
      </form>
    <//>`;
}

const Secret = ({ made, onClose }) => html`
  <${Dialog} title="API key made" onClose=${onClose} size="narrow">
    <p>Copy the secret now. It is shown <b>only once</b> and cannot be read later.</p>
    <div class="secret"><code data-secret>${made.secret}</code><button type="button" class="primary" autofocus onClick=${() => copy(made.secret)}><${Icon} name="copy" />Copy</button></div>
    <div class="actions end"><button type="button" onClick=${onClose}>Done</button></div>
  <//>`;
