// The memory of a user: the part that is always shown, topics and items.

import { useLayoutEffect, useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../../lib/api.js";
import { number, plural, words } from "../../lib/format.js";
import { Bar, Empty, goTo, hrefTo, html, Line, Loaded, Time, useLoad, useWho } from "../../lib/ui.js";
import { ItemDialog } from "./item.js";
import { Items } from "./items.js";
import { useMemoryNews } from "./news.js";
import { TierTag, useReloads } from "./parts.js";
import { TopicDialog } from "./topic.js";
import { memoryChanged, WipeAgentDialog } from "./wipe.js";

export function Memory({ user, id, params }) {
  const [changes, setChanges] = useState(0);
  const changed = () => setChanges(count => count + 1);
  useLayoutEffect(() => memoryChanged.on(changed), []);
  useMemoryNews(user, changed);
  const close = () => goTo(hrefTo("users", id, "memory"));
  return html`
    <div class="stack">
      <${Budgets} user=${user} changes=${changes} />
      <${Topics} user=${user} id=${id} changes=${changes} />
      <${Items} user=${user} id=${id} changes=${changes} onChanged=${changed} />
    </div>
    ${params.item && html`<${ItemDialog} key=${params.item} user=${user} item=${params.item} changes=${changes} onClose=${close} onChanged=${changed} />`}
    ${params.topic && html`<${TopicDialog} key=${params.topic} user=${user} id=${id} topic=${params.topic} tier=${params.tier} agent=${params.agent} changes=${changes} onClose=${close} onChanged=${changed} />`}`;
}

function Budgets({ user, changes }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/budgets`, null, { signal }), [user.id]);
  const [forgetting, setForgetting] = useState(null);
  const { api_key: key } = useWho();
  useReloads(load, changes);
  return html`
    <section class="card" aria-label="What is always shown to the model">
      <div class="card-head"><h2>Always shown to the model</h2><span class="small soft">Recall finds what does not fit</span></div>
      <${Loaded} load=${load} lines=${2}>${budgets => html`
        <div class="budgets">
          <${Budget} name="About the user" budget=${budgets.user} />
          ${budgets.agents.map(budget => html`<${Budget} key=${budget.agent} name="Noted by" agent=${budget.agent} budget=${budget}
            onForget=${key.read_only ? null : () => setForgetting(budget.agent)} />`)}
        </div>`}<//>
    </section>
    ${forgetting && html`<${WipeAgentDialog} user=${user} agent=${forgetting} onClose=${() => setForgetting(null)} />`}`;
}

function Budget({ name, agent, budget, onForget }) {
  const isOver = budget.used_chars > budget.limit_chars;
  const parts = [{ label: "used", value: budget.used_chars, className: isOver ? "is-over" : agent ? "is-running" : "is-kept" }];
  return html`
    <div class="budget">
      <div class="row"><h3 class="grow row"><span>${name}</span>${agent && html`<${Line} value=${agent} />`}</h3>
        ${onForget && html`<button type="button" class="link danger small" aria-label=${`Delete what ${agent} noted`} onClick=${onForget}>Delete…</button>`}</div>
      <${Bar} label=${`${name} ${agent || ""}`.trim()} parts=${parts} total=${budget.limit_chars} hasLegend=${false} />
      <p class="small soft">${number(budget.used_chars)} of ${number(budget.limit_chars)} characters · ${plural(budget.items_count, "item")}</p>
    </div>`;
}

function Topics({ user, id, changes }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/users/${user.id}/topics`, null, { signal }), [user.id]);
  useReloads(load, changes);
  return html`
    <section class="card" aria-label="Topics">
      <div class="card-head"><h2>Topics ${load.data && html`<span class="soft small">${number(load.data.topics.length)}</span>`}</h2>
        <span class="small soft">Made from items by dreams</span></div>
      <${Loaded} load=${load}>${({ topics }) => topics.length === 0
        ? html`<${Empty} title="No topics" hint="Dreams make topics of items. They run when the user has been away, or on demand on the tab Dreams." />`
        : html`<ul class="topics">${topics.map(topic => html`
          <li key=${`${topic.id} ${topic.tier} ${topic.agent}`}><a class="topic" href=${hrefTo("users", id, "memory", { topic: topic.name, tier: topic.tier, agent: topic.agent })}>
            <span class="row"><${Line} className="topic-name grow" value=${words(topic.name)} /><${TierTag} tier=${topic.tier} agent=${topic.agent} /></span>
            <${Line} className="small" value=${topic.summary} max=${400} empty="No summary" />
            <span class="small soft"><${Time} at=${topic.updated_at} />${topic.expires_at && html` · ends <${Time} at=${topic.expires_at} />`}</span>
          </a></li>`)}</ul>`}<//>
    </section>`;
}
