// One item: its statement, evidence, revisions and actions.

import { useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, get, getTagged, pathOf, send } from "../../lib/api.js";
import { percent, words } from "../../lib/format.js";
import { Busy, Confirm, Dialog, Failure, Field, hrefTo, html, Id, KEEP, Loaded, Tag, Text, Time, toast, useAction, useFocus, useLoad, useWho } from "../../lib/ui.js";
import { StatusTag, TierTag, useReloads } from "./parts.js";
import { Race, raceFor } from "./race.js";

export function ItemDialog({ user, item: id, changes, onClose, onChanged }) {
  const path = pathOf`/api/users/${user.id}/items/${id}`;
  const load = useLoad(({ signal }) => getTagged(path, null, { signal }), [path]);
  const [mode, setMode] = useState("");
  const { api_key: key } = useWho();
  const [lost, setLost] = useState(null);
  useReloads(load, changes, !mode && !lost); // during an edit or deletion the shown version stays
  const changed = () => { setMode(""); setLost(null); onChanged(); };
  const undo = useAction(async tag => {
    if (!await raceFor(() => send("POST", `${path}/undo`, null, { etag: tag }), setLost)) return;
    toast("Undone");
    changed();
  });
  return html`
    <${Dialog} title="Item" onClose=${onClose}>
      <${Loaded} load=${load}>${({ data: item, etag }) => html`
        ${mode === "edit"
          ? html`<${Edit} path=${path} item=${item} etag=${etag ?? item.revision} onClose=${() => setMode("")} onSaved=${changed} />`
          : html`
            ${lost && html`<${Race} theirs=${lost} note="Your undo was not applied." title="The version you saw" statement=${item.statement}>
              <button type="button" onClick=${changed}>Keep theirs</button>
              ${lost.status !== "erased" && html`<${Busy} className="danger" isBusy=${undo.isBusy} onClick=${() => undo.run(String(lost.revision))}>Undo their change anyway<//>`}<//>`}
            <${Text} className="item-text" value=${item.statement} />
            <div class="row wrap"><${StatusTag} status=${item.status} /><${Tag}>${words(item.kind)}<//><${TierTag} tier=${item.tier} agent=${item.agent} />
              ${item.is_block && html`<${Tag} kind="accent">always shown<//>`}${(item.threats || []).map(threat => html`<${Tag} key=${threat} kind="bad">${words(threat)}<//>`)}</div>
            ${!key.read_only && !lost && item.status !== "erased" && html`<div class="actions">
              ${item.status === "active" && html`<button type="button" class="primary" onClick=${() => setMode("edit")}>Edit</button>`}
              <${Busy} isBusy=${undo.isBusy} disabled=${(item.revisions || []).length < 2 && !item.supersedes} onClick=${() => undo.run(etag ?? item.revision)}>Undo the last change<//>
              <button type="button" class="danger" onClick=${() => setMode("delete")}>Delete…</button></div>`}
            <${Failure} problem=${undo.problem} title="The undo failed" />`}
        <${Why} path=${path} changes=${changes} />
        <${Facts} item=${item} />
        <${Revisions} item=${item} />
        ${mode === "delete" && html`<${DeleteItem} path=${path} item=${item} etag=${etag ?? item.revision} onClose=${() => setMode("")} onKept=${changed} onGone=${() => { onChanged(); onClose(); }} />`}`}<//>
    <//>`;
}

/** Ask, then delete an item. After a conflict both versions are shown and the question is repeated. */
function DeleteItem({ path, item, etag, onClose, onKept, onGone }) {
  const [theirs, setTheirs] = useState(null);
  const remove = async () => {
    if (!await raceFor(() => send("DELETE", path, null, { etag: theirs ? String(theirs.revision) : etag }), setTheirs)) return KEEP;
    toast("Deleted");
    onGone();
  };
  return html`
    <${Confirm} title="Delete this item?" confirmLabel=${theirs ? "Delete their version anyway" : "Delete"} onConfirm=${remove} onClose=${theirs ? onKept : onClose}
      text="This deletes the item and everything derived from it. The original messages stay in the session until they are erased there.">
      ${theirs && html`<${Race} theirs=${theirs} note="Your deletion was not applied." title="The version you saw" statement=${item.statement} />`}<//>`;
}

/** Edit the statement of an item. After a conflict both versions are shown, and nothing is lost. */
function Edit({ path, item, etag, onClose, onSaved }) {
  const [statement, setStatement] = useState(item.statement);
  const [theirs, setTheirs] = useState(null);
  const save = useAction(async tag => {
    if (!await raceFor(() => send("PATCH", path, { statement }, { etag: tag }), setTheirs)) return;
    toast("Saved");
    onSaved();
  });
  const errors = errorsByField(save.problem), box = useFocus();
  const submit = event => { event.preventDefault(); save.run(theirs ? String(theirs.revision) : etag); };
  return html`
    <form class="form" onSubmit=${submit}>
      ${theirs && html`<${Race} theirs=${theirs} note="Your change was not saved: it was based on an older revision." title="Yours" statement=${statement}>
        <button type="button" onClick=${onSaved}>Keep theirs</button><button type="button" onClick=${() => setStatement(theirs.statement)}>Edit from theirs</button><//>`}
      <${Field} label="Statement" error=${errors.statement}>${attrs => html`
        <textarea ...${attrs} name="statement" dir="auto" rows="4" ref=${box} required value=${statement} onInput=${event => setStatement(event.target.value)}></textarea>`}<//>
      ${save.problem && !errors.statement && html`<${Failure} problem=${save.problem} />`}
      <div class="actions end"><button type="button" onClick=${onClose}>Cancel</button>
        <${Busy} type="submit" className="primary" isBusy=${save.isBusy}>${theirs ? "Save mine over theirs" : "Save"}<//></div>
    </form>`;
}

/** The quotes that an item rests on, each with a link to its message. */
function Why({ path, changes }) {
  const load = useLoad(({ signal }) => get(`${path}/why`, null, { signal }), [path]);
  useReloads(load, changes);
  return html`
    <section class="stack tight" aria-label="Why"><h3>Why</h3>
      <${Loaded} load=${load} lines=${2}>${({ because }) => because.length === 0
        ? html`<p class="soft small">No source message: this item was added here or through the API.</p>`
        : html`<ul class="stack tight">${because.map((one, index) => html`<li key=${index}><${Because} one=${one} /></li>`)}</ul>`}<//>
    </section>`;
}

const Because = ({ one }) => html`
  <blockquote class="because">
    ${one.quote ? html`<${Text} value=${one.quote} maxHeight=${160} />` : html`<p class="soft">The quoted message was erased.</p>`}
    <p class="small soft row wrap">
      ${one.message
        ? html`<a href=${hrefTo("sessions", one.session_id, "log", { seq: one.seq })}>Message ${one.seq}</a><span>${one.message.role}</span>`
        : html`<span>message ${one.seq}</span><${Tag}>erased<//>`}
      <span>in</span><${Id} value=${one.session_id} label="session id" /><${Time} at=${one.said_at} /></p>
  </blockquote>`;

const Facts = ({ item }) => html`
  <dl class="facts small">
    <dt>From</dt><dd>${item.origin}${item.confidence != null && html`, confidence ${percent(item.confidence)}`}</dd>
    <dt>Recorded</dt><dd><${Time} at=${item.recorded_at} />, last seen <${Time} at=${item.last_seen_at} /></dd>
    ${(item.valid_from || item.valid_to) && html`<dt>Valid</dt><dd><${Time} at=${item.valid_from} empty="the beginning" /> to <${Time} at=${item.valid_to} empty="further notice" /></dd>`}
    <dt>Id</dt><dd><${Id} value=${item.id} label="item id" /> revision ${item.revision}</dd>
    ${item.supersedes && html`<dt>Supersedes</dt><dd><${Id} value=${item.supersedes} label="item id" /></dd>`}
  </dl>`;

const Revisions = ({ item }) => (item.revisions || []).length > 1 && html`
  <details><summary>${item.revisions.length} revisions</summary>
    <ol class="revisions">${item.revisions.map(revision => html`
      <li key=${`${revision.id} ${revision.revision}`}><span class="row wrap small soft"><b>${revision.revision}</b><${StatusTag} status=${revision.status} /><${Time} at=${revision.recorded_at} /></span>
        <${Text} value=${revision.statement} maxHeight=${140} /></li>`)}</ol>
  </details>`;

