// Agents: model, instructions, memory system and compaction settings of each.

import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, get, pathOf, send } from "../lib/api.js";
import { number, words } from "../lib/format.js";
import { Busy, Dialog, Empty, Failure, Field, goTo, hrefTo, html, Icon, Line, Loaded, RailPage, Tag, toast, useAction, useLoad, useWho } from "../lib/ui.js";

const SYSTEMS = [
  ["summarization", "Summarization", "A long conversation folds into digests, and every message stays readable and searchable. Sessions share no memory."],
  ["structured", "Structured", "Facts, preferences, decisions, tasks and open items are also extracted from messages into the user's memory. Dreams make topics of them. The model sees them in later sessions."],
];
const SUMMARY = Object.fromEntries(SYSTEMS.map(([name, title]) => [name, title]));

export default function Page({ path }) {
  const load = useLoad(({ signal }) => get("/api/agents", null, { signal }), []);
  const [name] = path;
  const [isAdding, setAdding] = useState(false);
  const { api_key: key } = useWho();
  const saved = agent => load.setData(old => old && { ...old, agents: old.agents.map(one => (one.id === agent.id ? agent : one)) });
  const rail = html`
    <div class="rail-head"><div class="row between"><h1 class="rail-title">Agents</h1>
      ${key.scope === "admin" && !key.read_only && html`<button type="button" onClick=${() => setAdding(true)}><${Icon} name="plus" />New</button>`}</div></div>
    <nav class="agent-list" aria-label="Agents"><${Loaded} load=${load}>${({ agents }) => agents.length === 0
      ? html`<${Empty} title="No agents" hint="Create one with the button New, or send a message to a new agent." />`
      : agents.map(agent => html`<${AgentRow} key=${agent.id} agent=${agent} isChosen=${agent.id === name} />`)}<//></nav>`;
  return html`
    <${RailPage} label="Agents" hasDetail=${Boolean(name)} backHref="#agents" backLabel="All agents" rail=${rail}>
      ${name ? html`<${AgentDetail} key=${name} name=${name} onSaved=${saved} />` : html`<${Empty} title="Choose an agent" hint="See its model, instructions, memory system and compaction settings." />`}
    <//>
    ${isAdding && html`<${NewAgent} known=${load.data?.agents || []} onClose=${() => setAdding(false)} onMade=${agent => { setAdding(false); load.reload(); goTo(hrefTo("agents", agent.id)); }} />`}`;
}

/** Make an agent: its section is added to the settings file. */
function NewAgent({ known, onClose, onMade }) {
  const [given, setGiven] = useState({ name: "", memory_system: SYSTEMS[0][0], model: "", instructions: "" });
  const set = name => event => setGiven({ ...given, [name]: event.target.value });
  const name = given.name.trim(), isTaken = known.some(agent => agent.id === name && agent.is_configured);
  const make = useAction(async () => {
    const body = { memory_system: given.memory_system, instructions: given.instructions, ...(given.model.trim() ? { model: given.model.trim() } : {}) };
    const { data } = await send("PATCH", pathOf`/api/agents/${name}/config`, body);
    toast("The agent was created");
    onMade(data);
  });
  const errors = errorsByField(make.problem);
  return html`
    <${Dialog} title="New agent" onClose=${onClose} size="narrow">
      <form class="form" onSubmit=${event => { event.preventDefault(); if (name && !isTaken) make.run(); }}>
        <${Field} label="Name" hint="Sessions are started with this name. It is added to the settings file." error=${isTaken ? "An agent with this name exists." : errors.agent}>${attrs => html`<input ...${attrs} name="agent-name" autofocus required maxlength="200" autocomplete="off" spellcheck=${false} value=${given.name} onInput=${set("name")} />`}<//>
        <${Field} label="Memory system" hint=${SYSTEMS.find(([one]) => one === given.memory_system)[2]} error=${errors.memory_system}>${attrs => html`<select ...${attrs} value=${given.memory_system} onChange=${set("memory_system")}>${SYSTEMS.map(([one, title]) => html`<option key=${one} value=${one}>${title}</option>`)}</select>`}<//>
        <${Field} label="Model" hint="provider:name. Empty: the model for all agents." error=${errors.model}>${attrs => html`<input ...${attrs} name="agent-model" autocomplete="off" spellcheck=${false} value=${given.model} onInput=${set("model")} />`}<//>
        <${Field} label="Instructions" hint="The system prompt." error=${errors.instructions}>${attrs => html`<textarea ...${attrs} name="agent-instructions" dir="auto" rows="4" value=${given.instructions} onInput=${set("instructions")}></textarea>`}<//>
        ${make.problem && Object.keys(errors).length === 0 && html`<${Failure} problem=${make.problem} title="Not created" />`}
        <div class="actions end"><button type="button" onClick=${onClose}>Cancel</button><${Busy} type="submit" className="primary" isBusy=${make.isBusy} disabled=${!name || isTaken}>Create<//></div>
      </form>
    <//>`;
}

const AgentRow = ({ agent, isChosen }) => html`
  <a class="agent-row" href=${hrefTo("agents", agent.id)} aria-current=${isChosen ? "true" : undefined}>
    <span class="row"><${Line} className="grow user-name" value=${agent.name || agent.id} />${agent.is_configured && html`<${Tag}>configured<//>`}</span>
    <span class="small soft row"><span>${SUMMARY[agent.memory_system] || agent.memory_system}</span>${agent.model && html`<${Line} value=${agent.model} />`}</span>
  </a>`;

function AgentDetail({ name, onSaved }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/agents/${name}`, null, { signal }), [name]);
  return html`<${Loaded} load=${load} lines=${8}>${agent => html`
    <header class="user-head"><div class="grow"><h1><${Line} value=${agent.name || agent.id} /></h1>
      <p class="small soft row wrap">${agent.is_configured ? html`<span>configured in the settings file</span>` : html`<span>uses the settings for all agents; saving adds [agents.${String(agent.id).slice(0, 60)}] to the settings file</span>`}</p></div>
      <div class="actions"><a class="button" href=${hrefTo("chat", agent.id)}>Chat</a><a class="button" href=${hrefTo("sessions", { agent: agent.id })}>Sessions</a></div></header>
    <${AgentForm} key=${JSON.stringify(agent)} agent=${agent} onSaved=${changed => { load.setData(changed); onSaved(changed); }} />
    <${Effective} agent=${agent} />`}<//>`;
}

const FIRST_OVERRIDES = ["trigger_ratio", "target_ratio", "keep_recent", "gap_secs", "continuous_interval"];

/** The values of the form: the agent's own setting, else "" (texts) or the setting for all agents (choices). */
function begin(agent) {
  const isOwn = name => !agent.own || agent.own.includes(name);
  return {
    memory_system: agent.memory_system,
    recall_enabled: agent.recall_enabled,
    memory_review: agent.memory_review,
    model: isOwn("model") && agent.model ? agent.model : "",
    context_limit: isOwn("context_limit") && agent.context_limit ? String(agent.context_limit) : "",
    instructions: agent.instructions || "",
    compaction: Object.entries(agent.compaction || {}).map(([key, value]) => ({ key, value: typeof value === "string" ? value : JSON.stringify(value) })),
  };
}

/** The changes as the body of PATCH; null goes back to the setting for all agents. */
function changesOf(agent, form) {
  const old = begin(agent), changes = {};
  for (const name of ["memory_system", "recall_enabled", "memory_review", "instructions"]) if (form[name] !== old[name]) changes[name] = form[name];
  if (form.model.trim() !== old.model) changes.model = form.model.trim() || null;
  if (form.context_limit.trim() !== old.context_limit) changes.context_limit = form.context_limit.trim() === "" ? null : readValue(form.context_limit);
  const overrides = Object.fromEntries(form.compaction.filter(one => one.key.trim()).map(one => [one.key.trim(), readValue(one.value)]));
  if (JSON.stringify(overrides) !== JSON.stringify(agent.compaction || {})) changes.compaction = overrides;
  return changes;
}
/** A JSON value where the text is JSON, else the text. */
function readValue(text) {
  try { return JSON.parse(text); } catch { return text; }
}

function AgentForm({ agent, onSaved }) {
  const [form, setForm] = useState(() => begin(agent));
  const { api_key: key } = useWho();
  const changes = changesOf(agent, form);
  const isChanged = Object.keys(changes).length > 0;
  const isLocked = key.read_only || key.scope !== "admin";
  const set = name => event => setForm({ ...form, [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const save = useAction(async () => {
    const { data } = await send("PATCH", pathOf`/api/agents/${agent.id}/config`, changes);
    toast("Saved");
    onSaved(data);
  });
  const errors = errorsByField(save.problem);
  const isPlaced = Object.keys(errors).some(field => ["memory_system", "model", "context_limit", "instructions", "recall_enabled", "memory_review"].includes(field) || field.startsWith("compaction"));
  return html`
    <form class="stack" onSubmit=${event => { event.preventDefault(); if (isChanged) save.run(); }} aria-label="Configuration">
      <fieldset disabled=${isLocked} class="plain stack">
        <section class="card"><h2 id="memory-system">Memory system</h2>
          <div class="choices" role="radiogroup" aria-labelledby="memory-system">${SYSTEMS.map(([name, title, text]) => html`
            <label key=${name} class=${`choice ${form.memory_system === name ? "chosen" : ""}`}>
              <input type="radio" name="memory_system" value=${name} checked=${form.memory_system === name} onChange=${set("memory_system")} />
              <span><b>${title}</b><span class="small soft">${text}</span></span></label>`)}</div>
          <${ForAll} agent=${agent} form=${form} name="memory_system" onChange=${setForm} />
          ${errors.memory_system && html`<p class="bad small" role="alert">${errors.memory_system}</p>`}
          <div class="stack tight checks">
            <label class="check"><input type="checkbox" checked=${form.recall_enabled} onChange=${set("recall_enabled")} /> <span>Recall for each message <span class="small soft">– search messages and items related to the newest user message, and add them at the end of the request</span></span></label>
            <label class="check"><input type="checkbox" checked=${form.memory_review} onChange=${set("memory_review")} /> <span>Dreams need approval <span class="small soft">– topics change only after a person approves</span></span></label>
          </div>
        </section>
        <section class="card"><h2>Model</h2>
          <div class="form-row">
            <${Field} label="Model" hint="provider:name. Empty: the model for all agents." error=${errors.model}>${attrs => html`<input ...${attrs} name="model" autocomplete="off" placeholder=${agent.own?.includes("model") ? "" : agent.model || "none"} spellcheck=${false} value=${form.model} onInput=${set("model")} />`}<//>
            <${Field} label="Context limit" hint="In tokens. Empty: the limit for all agents." error=${errors.context_limit}>${attrs => html`<input ...${attrs} name="context_limit" inputmode="numeric" placeholder=${agent.own?.includes("context_limit") ? "" : agent.context_limit} value=${form.context_limit} onInput=${set("context_limit")} />`}<//>
          </div>
          <${Field} className="spaced" label="Instructions" hint="The system prompt." error=${errors.instructions}>${attrs => html`
            <textarea ...${attrs} name="instructions" dir="auto" rows="7" value=${form.instructions} onInput=${set("instructions")}></textarea>`}<//>
          ${agent.tools?.length > 0 && html`<p class="row wrap small spaced"><span class="soft">Tools</span>${agent.tools.map(tool => html`<${Tag} key=${tool}>${String(tool).slice(0, 60)}<//>`)}</p>`}
        </section>
        <${Overrides} agent=${agent} rows=${form.compaction} errors=${errors} onChange=${compaction => setForm({ ...form, compaction })} />
      </fieldset>
      ${save.problem && !isPlaced && html`<${Failure} problem=${save.problem} title="Not saved" />`}
      <div class="actions save-bar">
        <${Busy} type="submit" className="primary" isBusy=${save.isBusy} disabled=${!isChanged || isLocked}>Save<//>
        <button type="button" disabled=${!isChanged} onClick=${() => { setForm(begin(agent)); save.clear(); }}>Discard changes</button>
        ${isLocked && html`<span class="small soft">This API key may not change agents.</span>`}
        ${isPlaced && html`<span class="small bad" role="status">Not saved: see the marked field.</span>`}
      </div>
    </form>`;
}

/** Whether a choice is the agent's own, and a button that goes back to the setting for all agents. */
function ForAll({ agent, form, name, onChange }) {
  if (form[name] === null) return html`<p class="small soft spaced">Saving restores the setting for all agents.</p>`;
  if (!agent.own?.includes(name)) return form[name] === agent[name] && html`<p class="small soft spaced">Same as for all agents.</p>`;
  return html`<p class="small soft spaced">Set for this agent. <button type="button" class="link" onClick=${() => onChange({ ...form, [name]: null })}>Use the setting for all agents</button></p>`;
}

/** The compaction settings of this agent alone: one name and value a row. */
function Overrides({ agent, rows, errors, onChange }) {
  const effective = agent.effective?.compaction || {};
  const known = [...new Set([...FIRST_OVERRIDES, ...Object.keys(effective)])];
  const setRow = (index, change) => onChange(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  // An error about two settings has the section as its field: it belongs to the rows that it names.
  const errorOf = key => key && (errors[`compaction.${key}`] || (errors.compaction?.includes(key) ? errors.compaction : null));
  const loose = Object.entries(errors).filter(([field, message]) => field.split(".")[0] === "compaction" && !rows.some(row => errorOf(row.key) === message));
  return html`
    <section class="card"><div class="card-head"><h2>Compaction</h2><span class="small soft">Differences from the settings for all agents</span></div>
      <datalist id="compaction-keys">${known.map(key => html`<option key=${key} value=${key} />`)}</datalist>
      ${rows.length === 0 && html`<p class="soft small">No differences.</p>`}
      <div class="stack tight">${rows.map((row, index) => html`
        <div key=${index} class="override">
          <${Field} label="Setting">${attrs => html`<input ...${attrs} list="compaction-keys" spellcheck=${false} autocomplete="off" value=${row.key} onInput=${event => setRow(index, { key: event.target.value })} />`}<//>
          <${Field} label="Value" error=${errorOf(row.key)}>${attrs => html`<input ...${attrs} spellcheck=${false} autocomplete="off" placeholder=${row.key in effective ? JSON.stringify(effective[row.key]) : ""} value=${row.value} onInput=${event => setRow(index, { value: event.target.value })} />`}<//>
          <button type="button" class="quiet danger" aria-label=${`Remove ${row.key || "the setting"}`} onClick=${() => onChange(rows.filter((_, at) => at !== index))}>Remove</button>
        </div>`)}</div>
      ${loose.map(([field, message]) => html`<p key=${field} class="bad small" role="alert">${message}</p>`)}
      <p class="spaced"><button type="button" onClick=${() => onChange([...rows, { key: "", value: "" }])}>Add a setting</button></p>
    </section>`;
}

const show = value => (value === null || value === undefined ? "–" : typeof value === "number" ? number(value) : typeof value === "string" ? value : JSON.stringify(value));

/** Whether a setting comes from the agent's own section; the others come from the settings for all agents. */
const isOwn = (agent, section, key) => (section === "compaction" ? key in (agent.compaction || {}) : (agent.own || []).includes(`memory_${key}`) || (agent.own || []).includes(key));

const Effective = ({ agent }) => html`
  <details class="card effective"><summary>Effective settings</summary>
    <p class="small soft">Marked settings are set for this agent. The others apply to all agents; the page System shows their origin.</p>
    ${["compaction", "memory"].map(section => html`<div key=${section}><h3>${section}</h3><dl class="facts small">${Object.entries(agent.effective?.[section] || {}).map(([key, value]) => html`
      <dt key=${key}>${words(key)}</dt><dd><span class="mono">${show(value)}</span>${isOwn(agent, section, key) && html` <${Tag} kind="accent">this agent<//>`}</dd>`)}</dl></div>`)}
  </details>`;
