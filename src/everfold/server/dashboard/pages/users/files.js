// Memory files: the text files that agents keep for themselves about a user with the memory tool, to read and to delete.

import { useLayoutEffect, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../../lib/api.js";
import { number, plural } from "../../lib/format.js";
import { Confirm, Empty, html, Loaded, Tag, Text, Time, toast, useLoad, useWho } from "../../lib/ui.js";
import { useMemoryNews } from "./news.js";
import { memoryChanged } from "./wipe.js";

export function Files({ user }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/files`, null, { signal }), [user.id]);
  useLayoutEffect(() => memoryChanged.on(load.reload), []);
  useMemoryNews(user, load.reload);
  return html`
    <${Loaded} load=${load}>${({ files }) => files.length === 0
      ? html`<section class="card"><${Empty} title="No memory files" hint="An agent with Anthropic's memory tool keeps its notes about a user in files. No agent has written one about this user." /></section>`
      : html`<p class="small soft count-line">${plural(files.length, "file")}, ${number(files.reduce((sum, file) => sum + file.chars_count, 0))} characters</p>
        <ul class="stack" aria-label="Memory files">${files.map(file => html`<li key=${`${file.agent} ${file.path}`}><${File} user=${user} file=${file} onDone=${load.reload} /></li>`)}</ul>`}<//>`;
}

function File({ user, file, onDone }) {
  const [isOpen, setOpen] = useState(false), [isAsked, setAsked] = useState(false);
  const { api_key: key } = useWho();
  const path = pathOf`/api/users/${user.id}/agents/${file.agent}/files?path=${file.path}`;
  const erase = async () => {
    await send("DELETE", path);
    toast("The file was deleted.");
    onDone();
  };
  return html`
    <article class="card stack tight" aria-label=${file.path}>
      <div class="row wrap between">
        <h2 class="file-path mono" dir="auto">${file.path}</h2>
        <span class="row wrap small soft"><${Tag}>${file.agent}<//><span>${plural(file.chars_count, "character")}</span><${Time} at=${file.written_at} /></span>
      </div>
      ${isOpen && html`<${FileText} path=${path} written=${file.written_at} />`}
      <div class="actions"><button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${isOpen ? "Hide" : "Read"}</button>
        ${!key.read_only && html`<button type="button" class="danger" onClick=${() => setAsked(true)}>Delete…</button>`}</div>
      ${isAsked && html`<${Confirm} title="Delete this file?" text=${`${file.path} of the agent ${file.agent} is deleted. This cannot be undone.`} onConfirm=${erase} onClose=${() => setAsked(false)} />`}
    </article>`;
}

function FileText({ path, written }) {
  const load = useLoad(({ signal }) => get(path, null, { signal }), [path, written]);
  return html`<${Loaded} load=${load}>${({ content }) => (content ? html`<${Text} value=${content} maxHeight=${400} />` : html`<p class="soft">The file is empty.</p>`)}<//>`;
}
