// Quarantine: items that the threat scan flagged. Their owner sees them; no model does.

import { useLayoutEffect, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../../lib/api.js";
import { words } from "../../lib/format.js";
import { Confirm, Empty, hrefTo, html, Id, KEEP, Loaded, Tag, Text, Time, toast, useLoad, useWho } from "../../lib/ui.js";
import { useMemoryNews } from "./news.js";
import { TierTag } from "./parts.js";
import { Race, raceFor } from "./race.js";
import { memoryChanged } from "./wipe.js";

export function Quarantine({ user, id }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/quarantine`, null, { signal }), [user.id]);
  useLayoutEffect(() => memoryChanged.on(load.reload), []);
  useMemoryNews(user, load.reload, ["quarantine"]);
  return html`
    <${Loaded} load=${load}>${({ items }) => items.length === 0
      ? html`<section class="card"><${Empty} title="No quarantined items" hint="Items that look like a prompt injection, a data leak or a secret are kept here. No model sees them until they are released." /></section>`
      : html`<ul class="stack">${items.map(item => html`<li key=${item.id}><${Quarantined} user=${user} id=${id} item=${item} onDone=${load.reload} /></li>`)}</ul>`}<//>`;
}

function Quarantined({ user, id, item, onDone }) {
  const [asked, setAsked] = useState(""), [seen, setSeen] = useState(item); // the question is about the version that was shown
  const ask = verb => { setSeen(item); setAsked(verb); };
  const { api_key: key } = useWho();
  const path = pathOf`/api/users/${user.id}/quarantine/${item.id}`;
  const [theirs, setTheirs] = useState(null);
  const judge = (method, place, said) => async () => {
    if (!await raceFor(() => send(method, place, null, { etag: theirs ? String(theirs.revision) : seen.revision }), setTheirs)) return KEEP;
    toast(said);
    onDone();
  };
  const close = () => { setAsked(""); if (theirs) onDone(); setTheirs(null); };
  const race = theirs && html`<${Race} theirs=${theirs} note="Your action was not applied." title="The version you saw" statement=${seen.statement} />`;
  return html`
    <article class="card stack tight" aria-label="Quarantined item">
      <div class="row wrap">${(item.threats || []).map(threat => html`<${Tag} key=${nameOf(threat)} kind="bad">${words(nameOf(threat))}<//>`)}<${Tag}>${words(item.kind)}<//><${TierTag} tier=${item.tier} agent=${item.agent} /><span class="small soft"><${Time} at=${item.recorded_at} /></span></div>
      <${Text} value=${item.statement} maxHeight=${200} />
      <div class="row wrap between">
        <span class="row wrap small soft">from ${item.origin} ${(item.evidence || []).slice(0, 3).map((one, index) => html`<a key=${index} href=${hrefTo("sessions", one.session_id, "log", { seq: one.seq })}>message ${one.seq}</a>`)} <${Id} value=${item.id} label="item id" /></span>
        ${!key.read_only && html`<div class="actions"><button type="button" onClick=${() => ask("release")}>Release…</button><button type="button" class="danger" onClick=${() => ask("erase")}>Erase…</button></div>`}
      </div>
      ${asked === "release" && html`<${Confirm} title="Release this item?" confirmLabel="Release" danger=${false} onConfirm=${judge("POST", `${path}/release`, "Released")} onClose=${close} text="The item may then be shown to a model. Release only text that you would send to the model yourself.">${race}<//>`}
      ${asked === "erase" && html`<${Confirm} title="Erase this item?" confirmLabel="Erase" onConfirm=${judge("DELETE", path, "Erased")} onClose=${close} text="This cannot be undone.">${race}<//>`}
    </article>`;
}

const nameOf = threat => (typeof threat === "string" ? threat : threat.kind || threat.name || "threat");
