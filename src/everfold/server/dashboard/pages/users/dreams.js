// Dreams: what each changed in the topics, its evidence, and its state.

import { useLayoutEffect, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../../lib/api.js";
import { plural, secs, usd, words } from "../../lib/format.js";
import { Busy, Confirm, Dialog, Empty, Failure, goTo, hrefTo, html, Id, Line, Loaded, Tag, Text, Time, toast, useAction, useLoad, useWho } from "../../lib/ui.js";
import { useMemoryNews } from "./news.js";
import { TierTag } from "./parts.js";
import { memoryChanged } from "./wipe.js";

const STATE_KINDS = { proposed: "warn", applied: "good", rejected: "", reverted: "", failed: "bad" };

export function Dreams({ user, id, params }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/dreams`, null, { signal }), [user.id]);
  const { api_key: key } = useWho();
  useLayoutEffect(() => memoryChanged.on(load.reload), []);
  useMemoryNews(user, load.reload, ["dreams"]);
  const open = dream => goTo(hrefTo("users", id, "dreams", { dream }));
  return html`
    <section class="card" aria-label="Dreams">
      <div class="card-head"><h2>Dreams</h2>${!key.read_only && html`<${DreamNow} user=${user} onDreamt=${dream => { load.reload(); open(dream.id); }} />`}</div>
      <${Loaded} load=${load}>${({ dreams }) => dreams.length === 0
        ? html`<${Empty} title="No dreams yet" hint="A dream makes topics of extracted items. It runs when the user has been away for a while and there are new items." />`
        : html`<ul class="dreams">${dreams.map(dream => html`
          <li key=${dream.id}><a class="dream" href=${hrefTo("users", id, "dreams", { dream: dream.id })}>
            <span class="row wrap"><${DreamTag} state=${dream.state} /><span><${Time} at=${dream.begun_at || dream.made_at} /></span><span class="soft small row">for <${Line} value=${dream.agent} /></span></span>
            <span class="small soft row wrap">${figures(dream)}</span>
          </a></li>`)}</ul>`}<//>
    </section>
    ${params.dream && html`<${DreamDialog} key=${params.dream} user=${user} id=${id} dream=${params.dream} onClose=${() => goTo(hrefTo("users", id, "dreams"))} onChanged=${load.reload} />`}`;
}

const DreamTag = ({ state }) => html`<${Tag} kind=${STATE_KINDS[state] ?? ""}>${state === "proposed" ? "waits for approval" : words(state)}<//>`;

function figures(dream) {
  const count = Array.isArray(dream.topics) ? dream.topics.length : dream.topics_count;
  const took = dream.begun_at && dream.ended_at ? (Date.parse(dream.ended_at) - Date.parse(dream.begun_at)) / 1000 : null;
  return [count != null && plural(count, "topic"), dream.generator, took !== null && secs(took), dream.cost_usd != null && usd(dream.cost_usd), dream.problem && words(dream.problem)].filter(Boolean).join(" · ");
}

/** Dream on demand, for one agent. */
function DreamNow({ user, onDreamt }) {
  const agents = useLoad(({ signal }) => get("/api/agents", null, { signal }).then(found => found.agents), []);
  const latest = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/extractions`, { limit: 1 }, { signal }).then(found => found.entries[0]?.agent || ""), [user.id]);
  const [agent, setAgent] = useState("");
  const [said, setSaid] = useState("");
  const chosen = agent || latest.data || agents.data?.[0]?.id || "default"; // by default the agent of the latest extraction
  const isUnknown = !agent && [agents, latest].some(load => load.isLoading && load.data === null);
  const dream = useAction(async () => {
    setSaid("");
    const { data } = await send("POST", pathOf`/api/users/${user.id}/dreams`, { agent: chosen });
    const made = data && ("dream" in data ? data.dream : data);
    if (!made) return setSaid("No dream was made: there are no new items.");
    toast(made.state === "failed" ? "The dream failed" : made.state === "proposed" ? "The dream waits for approval" : "Memory updated", made.state === "failed" ? "bad" : "");
    memoryChanged.tell();
    onDreamt(made);
  });
  return html`
    <div class="row wrap dream-now">
      ${said && html`<span class="small soft" role="status">${said}</span>`}
      ${agents.data?.length > 1 && html`<select aria-label="Agent" value=${chosen} onChange=${event => setAgent(event.target.value)}>${agents.data.map(one => html`<option key=${one.id} value=${one.id}>${one.id}</option>`)}</select>`}
      <${Busy} isBusy=${dream.isBusy} disabled=${isUnknown} onClick=${dream.run}>${dream.isBusy ? "Dreaming …" : "Dream now"}<//>
    </div>
    ${dream.problem && html`<div class="whole"><${Failure} problem=${dream.problem} title="The dream could not start" /></div>`}`;
}

function DreamDialog({ user, id, dream: dreamId, onClose, onChanged }) {
  const path = pathOf`/api/users/${user.id}/dreams/${dreamId}`;
  const load = useLoad(({ signal }) => get(path, null, { signal }), [path]);
  const [isReverting, setReverting] = useState(false);
  const { api_key: key } = useWho();
  const act = useAction(async verb => {
    await send("POST", `${path}/${verb}`);
    toast({ approve: "Approved", reject: "Rejected", revert: "Reverted" }[verb]);
    memoryChanged.tell();
    onChanged();
    load.reload();
  });
  return html`
    <${Dialog} title="Dream" onClose=${onClose} size="wide">
      <${Loaded} load=${load}>${dream => html`
        <div class="row wrap"><${DreamTag} state=${dream.state} /><span class="soft small"><${Time} at=${dream.begun_at || dream.made_at} /> · ${figures(dream)}</span><${Id} value=${dream.id} label="dream id" /></div>
        ${!key.read_only && html`<div class="actions">
          ${dream.state === "proposed" && html`<${Busy} className="primary" isBusy=${act.isBusy} onClick=${() => act.run("approve")}>Approve<//><${Busy} isBusy=${act.isBusy} onClick=${() => act.run("reject")}>Reject<//>`}
          ${dream.state === "applied" && html`<button type="button" onClick=${() => setReverting(true)}>Revert…</button>`}
        </div>`}
        <${Failure} problem=${act.problem} />
        ${(dream.diff || []).length === 0
          ? html`<${Empty} title="No changes" hint=${dream.problem ? words(dream.problem) : null} />`
          : html`<ol class="changes">${dream.diff.map((change, index) => html`<li key=${index}><${Change} change=${change} id=${id} /></li>`)}</ol>`}
        ${isReverting && html`<${Confirm} title="Revert this dream?" confirmLabel="Revert" danger=${false} onClose=${() => setReverting(false)}
          text="The topics go back to their previous text. The extracted items stay, and a later dream can use them again."
          onConfirm=${async () => { await send("POST", `${path}/revert`); toast("Reverted"); memoryChanged.tell(); onChanged(); load.reload(); }} />`}`}<//>
    <//>`;
}

const CHANGE_KINDS = { added: "good", changed: "accent", removed: "bad" };
const textOf = version => (version ? `${version.summary}\n\n${version.content}` : "");

const Change = ({ change, id }) => html`
  <article class="change">
    <h3 class="row wrap"><${Tag} kind=${CHANGE_KINDS[change.change] || ""}>${change.change}<//><${Line} value=${words(change.name)} />${change.tier && html`<${TierTag} tier=${change.tier} agent=${change.agent} />`}</h3>
    <${Diff} before=${textOf(change.before)} after=${textOf(change.after)} />
    ${(change.items || []).length > 0 && html`<details><summary>${plural(change.items.length, "item")} as evidence</summary>
      <ul class="evidence">${change.items.map(item => html`<li key=${item.id}><a href=${hrefTo("users", id, "memory", { item: item.id })}><${Line} value=${item.statement} max=${400} /></a></li>`)}</ul></details>`}
  </article>`;

const MOST_DIFF_LINES = 600;

/** The differences of two texts, line by line. */
function Diff({ before, after }) {
  const rows = diffLines(before ? before.split("\n") : [], after ? after.split("\n") : []);
  if (!rows) return html`<div class="versions"><${Text} value=${before} /><${Text} value=${after} /></div>`;
  const marks = { same: [" ", ""], gone: ["−", "removed: "], come: ["+", "added: "] };
  return html`<div class="diff" role="group" aria-label="Changes of the text">${rows.filter(([, text]) => text).map(([kind, text], index) => html`
    <div key=${index} class=${`diff-line ${kind}`}><span class="diff-mark" aria-hidden="true">${marks[kind][0]}</span><div class="grow"><span class="unseen">${marks[kind][1]}</span><${Text} value=${text} maxHeight=${120} /></div></div>`)}</div>`;
}

/** [[kind, line]] by the longest common subsequence, or null for texts with too many lines. */
export function diffLines(before, after) {
  if (before.length > MOST_DIFF_LINES || after.length > MOST_DIFF_LINES) return null;
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) lengths[i][j] = before[i] === after[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  }
  const rows = [];
  let i = 0, j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) rows.push(["same", after[(i++, j++)]]);
    else if (j >= after.length || (i < before.length && lengths[i + 1][j] >= lengths[i][j + 1])) rows.push(["gone", before[i++]]);
    else rows.push(["come", after[j++]]);
  }
  return rows;
}
