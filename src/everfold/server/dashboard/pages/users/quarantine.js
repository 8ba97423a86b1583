// Quarantine: items that the threat scan hit. Their owner sees them; no model does.

import { useLayoutEffect, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../../lib/api.js";
import { words } from "../../lib/format.js";
import { Confirm, Empty, hrefTo, html, Id, KEEP, Loaded, Tag, Text, Time, toast, useLoad, useWho } from "../../lib/ui.js";
import { TierTag } from "./memory.js";
import { useMemoryNews } from "./news.js";
import { Race, raceFor } from "./race.js";
import { memoryChanged } from "./wipe.js";

export function Quarantine({ user, id }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/quarantine`, null, { signal }), [user.id]);
  useLayoutEffect(() => memoryChanged.on(load.reload), []);
  useMemoryNews(user, load.reload, ["quarantine"]);
  return html`
    <${Loaded} load=${load}>${({ items }) => items.length === 0
      ? html`<section class="card"><${Empty} title="Nothing is held back" hint="What looks like an attempt to steer the model, to leak, or a secret is held here and never shown to a model until somebody releases it." /></section>`
      : html`<ul class="stack">${items.map(item => html`<li key=${item.id}><${Held} user=${user} id=${id} item=${item} onDone=${load.reload} /></li>`)}</ul>`}<//>`;
}

function Held({ user, id, item, onDone }) {
  const [asked, setAsked] = useState(""), [seen, setSeen] = useState(item); // what is asked about stays the version that was seen
  const ask = verb => { setSeen(item); setAsked(verb); };
  const { key } = useWho();
  const path = pathOf`/api/users/${user.id}/quarantine/${item.id}`;
  const [theirs, setTheirs] = useState(null);
  const judge = (method, place, said) => async () => {
    if (!await raceFor(() => send(method, place, null, { etag: theirs ? String(theirs.revision) : seen.revision }), setTheirs)) return KEEP;
    toast(said);
    onDone();
  };
  const close = () => { setAsked(""); if (theirs) onDone(); setTheirs(null); };
  const race = theirs && html`<${Race} theirs=${theirs} note="Nothing has been done." title="What you saw" statement=${seen.statement} />`;
  return html`
    <article class="card stack tight held" aria-label="Held item">
      <div class="row wrap">${(item.threats || []).map(threat => html`<${Tag} key=${nameOf(threat)} kind="bad">${words(nameOf(threat))}<//>`)}<${Tag}>${words(item.kind)}<//><${TierTag} tier=${item.tier} agent=${item.agent} /><span class="small soft"><${Time} at=${item.recorded_at} /></span></div>
      <${Text} value=${item.statement} maxHeight=${200} />
      <div class="row wrap between">
        <span class="row wrap small soft">from ${item.origin} ${(item.evidence || []).slice(0, 3).map((one, index) => html`<a key=${index} href=${hrefTo("sessions", one.session_id, "log", { seq: one.seq })}>message ${one.seq}</a>`)} <${Id} value=${item.id} label="item id" /></span>
        ${!key.read_only && html`<div class="actions"><button type="button" onClick=${() => ask("release")}>Release…</button><button type="button" class="danger" onClick=${() => ask("erase")}>Erase…</button></div>`}
      </div>
      ${asked === "release" && html`<${Confirm} title="Release this item?" confirmLabel="Release" danger=${false} onConfirm=${judge("POST", `${path}/release`, "Released")} onClose=${close} text="It becomes an item like any other: it may be shown to a model. Release only what you would say to the model yourself.">${race}<//>`}
      ${asked === "erase" && html`<${Confirm} title="Erase this item?" confirmLabel="Erase" onConfirm=${judge("DELETE", path, "Erased")} onClose=${close} text="It is gone for good.">${race}<//>`}
    </article>`;
}

const nameOf = threat => (typeof threat === "string" ? threat : threat.kind || threat.name || "threat");
