// One topic: its text, its items and its revisions.

import { useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../../lib/api.js";
import { plural, words } from "../../lib/format.js";
import { Confirm, Dialog, goTo, hrefTo, html, Line, Loaded, Text, Time, toast, useLoad, useWho } from "../../lib/ui.js";
import { StatusTag, TierTag, useReloads } from "./parts.js";

export function TopicDialog({ user, id, topic: name, tier, agent, changes, onClose, onChanged }) {
  const path = pathOf`/api/users/${user.id}/topics/${name}`;
  const load = useLoad(({ signal }) => get(path, { tier, agent }, { signal }), [path, tier, agent]);
  const [isDeleting, setDeleting] = useState(false);
  useReloads(load, changes);
  const { api_key: key } = useWho();
  const remove = async () => {
    await send("DELETE", path, null, { params: { tier, agent } });
    toast("The topic was deleted");
    onChanged();
    onClose();
  };
  return html`
    <${Dialog} title=${html`<${Line} value=${words(name)} />`} onClose=${onClose}>
      <${Loaded} load=${load}>${topic => html`
        <p class="row wrap"><${TierTag} tier=${topic.tier} agent=${topic.agent} />${topic.status && html`<${StatusTag} status=${topic.status} />`}
          <span class="small soft">revision ${topic.revision}, <${Time} at=${topic.updated_at} />${topic.expires_at && html`, ends <${Time} at=${topic.expires_at} />`}</span></p>
        <${Text} className="topic-summary" value=${topic.summary} maxHeight=${120} />
        <${Text} className="topic-content" value=${topic.content} maxHeight=${420} />
        ${topic.items?.length > 0 && html`<details><summary>${plural(topic.items.length, "item")} as evidence</summary>
          <${TopicItems} user=${user} id=${id} items=${topic.items} /></details>`}
        ${topic.revisions?.length > 0 && html`<details><summary>${plural(topic.revisions.length, "revision")}</summary>
          <ol class="revisions">${topic.revisions.map(revision => html`
            <li key=${revision.revision}><span class="row wrap small soft"><b>${revision.revision}</b><${StatusTag} status=${revision.status} /><${Time} at=${revision.made_at} />
                ${revision.dream_id && html`<button type="button" class="link" onClick=${() => goTo(hrefTo("users", id, "dreams", { dream: revision.dream_id }))}>show the dream</button>`}</span>
              <${Text} value=${`${revision.summary}\n\n${revision.content}`} maxHeight=${140} /></li>`)}</ol></details>`}
        <div class="actions end">
          ${!key.read_only && html`<button type="button" class="danger" onClick=${() => setDeleting(true)}>Delete the topic…</button>`}</div>`}<//>
      ${isDeleting && html`<${Confirm} title="Delete this topic?" confirmLabel="Delete" onConfirm=${remove} onClose=${() => setDeleting(false)}
        text="This deletes the topic with all its revisions. Its items stay, and a later dream can make a topic of them again." />`}
    <//>`;
}

const SHOWN_ITEMS = 8;

/** The statements of the items that a topic was made from, the first few at once. */
function TopicItems({ user, id, items }) {
  const [count, setCount] = useState(SHOWN_ITEMS);
  return html`<ul class="evidence">${items.slice(0, count).map(item => html`<li key=${item}><${TopicItem} user=${user} id=${id} item=${item} /></li>`)}</ul>
    ${items.length > count && html`<p><button type="button" class="link small" onClick=${() => setCount(count + SHOWN_ITEMS)}>Show more of ${items.length} items</button></p>`}`;
}
function TopicItem({ user, id, item }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/items/${item}`, null, { signal }), [user.id, item]);
  return html`<a href=${hrefTo("users", id, "memory", { item })}><${Line} value=${load.data ? load.data.statement || "erased" : load.problem ? "not readable" : "…"} max=${400} /></a>`;
}
