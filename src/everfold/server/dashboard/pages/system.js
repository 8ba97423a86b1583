// System: pending and failed compactions, spend, context sources, API keys and settings.

import { useEffect } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../lib/api.js";
import { number, plural, secs, usd, words } from "../lib/format.js";
import { CHANGES, useEngineEvents } from "../lib/live.js";
import { Bar, Busy, Empty, Failure, hrefTo, html, Line, Loaded, Tag, Text, Time, toast, useAction, useLoad, useWho } from "../lib/ui.js";
import { ApiKeys } from "./system/keys.js";
import { Sources } from "./system/sources.js";

const LOOK_AGAIN_MS = 30_000;

export default function Page() {
  const { key } = useWho();
  const load = useLoad(({ signal }) => get("/api/system", null, { signal }), []);
  useEngineEvents(null, load.reload, { filter: one => !CHANGES.includes(one.kind), waitMs: 1500 });
  useEffect(() => {
    const timer = setInterval(() => document.hidden || load.reload(), LOOK_AGAIN_MS); // ages change without an event
    return () => clearInterval(timer);
  }, []);
  if (key.scope !== "admin") return html`<div class="page"><${Empty} title="This API key cannot see the system" hint="Sign in with an API key of scope admin." /></div>`;
  return html`
    <div class="page stack">
      <h1>System</h1>
      <${Loaded} load=${load} lines=${8}>${system => html`
        <${Figures} system=${system} />
        <${Compactions} compactions=${system.compactions} onChanged=${load.reload} />
        <${Spend} spend=${system.spend} />`}<//>
      <${Sources} />
      <${ApiKeys} />
      ${load.data && html`<${Settings} settings=${load.data.settings || []} />`}
    </div>`;
}

function useHealth() {
  return useLoad(async ({ signal }) => {
    try {
      await get("/health/ready", null, { signal });
      return { isReady: true };
    } catch (problem) {
      if (problem.status === 0 || problem.name === "AbortError") throw problem;
      return { isReady: false, detail: problem.detail };
    }
  }, []);
}

const Figure = ({ value, label, note, kind = "" }) => html`<li class="figure"><b class=${kind}>${value}</b><span>${label}</span>${note && html`<small>${note}</small>`}</li>`;

const countsOf = counts => Object.entries(counts || {}).filter(([state, count]) => count && state !== "all").map(([state, count]) => `${number(count)} ${words(state)}`).join(", ");

function Figures({ system }) {
  const { compactions, recovery, spend } = system;
  const health = useHealth();
  const failedCount = compactions.counts?.degraded ?? compactions.failed.length;
  const waitingCount = Object.entries(compactions.counts || {}).reduce((sum, [state, count]) => sum + (["all", "degraded"].includes(state) ? 0 : count), 0);
  return html`
    <ul class="figures" aria-label="Figures">
      <${Figure} value=${health.data ? (health.data.isReady ? "ready" : "not ready") : "…"} kind=${health.data ? (health.data.isReady ? "good" : "bad") : ""} label=${`version ${system.version}, ${system.store}`} note=${html`started <${Time} at=${system.started_at} />`} />
      <${Figure} value=${number(system.users_count)} label="users" note=${`${plural(system.sessions_count, "session")}${system.messages_count != null ? `, ${number(system.messages_count)} messages` : ""}`} />
      <${Figure} value=${number(waitingCount)} label="compactions pending" note=${waitingCount ? `oldest for ${secs(compactions.oldest_pending_secs)}` : "none pending"} />
      <${Figure} value=${number(failedCount)} kind=${failedCount ? "bad" : ""} label="compactions failed" note=${countsOf(compactions.counts) || `of ${number(compactions.counts?.all ?? 0)} in all`} />
      <${Figure} value=${usd(spend.today_usd)} label="spent today" note=${spend.per_day_usd != null ? `of ${usd(spend.per_day_usd)} per day` : "no daily limit"} />
      <${Figure} value=${secs(recovery.every_secs)} label="recovery interval" note=${`up to ${plural(recovery.attempts, "attempt")}, ${secs(recovery.grace_secs)} apart; looks back ${secs(recovery.lookback_secs)}`} />
    </ul>`;
}

function Compactions({ compactions, onChanged }) {
  const rows = [...(compactions.failed || []).map(compaction => ({ ...compaction, isFailed: true })), ...(compactions.waiting || [])];
  return html`
    <section class="card" aria-label="Compactions">
      <div class="card-head"><h2>Pending and failed compactions</h2></div>
      ${rows.length === 0 ? html`<${Empty} title="No pending or failed compactions" hint="A compaction is listed here until its digest is committed." />` : html`
        <div class="table-box"><table>
          <caption class="unseen">Pending and failed compactions</caption>
          <thead><tr><th scope="col">State</th><th scope="col">Session</th><th scope="col">Messages</th><th scope="col">Trigger</th><th scope="col">Started</th><th scope="col" class="number">Attempts</th><th scope="col">Problem</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
          <tbody>${rows.map(compaction => html`<${CompactionRow} key=${`${compaction.session_id} ${compaction.id}`} compaction=${compaction} onChanged=${onChanged} />`)}</tbody>
        </table></div>`}
    </section>`;
}

function CompactionRow({ compaction, onChanged }) {
  const { key } = useWho();
  const retry = useAction(async () => {
    await send("POST", pathOf`/api/sessions/${compaction.session_id}/compactions/${compaction.id}/retry`);
    toast("The retry was queued");
    onChanged();
  });
  return html`
    <tr><td><${Tag} kind=${compaction.isFailed ? "bad" : compaction.state === "running" ? "accent" : ""}>${words(compaction.state)}<//></td>
      <td><a class="mono small" href=${hrefTo("sessions", compaction.session_id, "compactions", { compaction: compaction.id })}>${String(compaction.session_id).slice(-8)}</a></td>
      <td>${number(compaction.first_seq)}–${number(compaction.last_seq)}</td><td>${words(compaction.trigger)}</td><td><${Time} at=${compaction.begun_at} /></td><td class="number">${number(compaction.attempts)}</td>
      <td class="what-failed">${compaction.problem ? html`<${Text} className="small" value=${compaction.problem} maxHeight=${66} />` : html`<span class="soft">–</span>`}<${Failure} problem=${retry.problem} title="The retry failed" /></td>
      <td>${compaction.isFailed && !key.read_only && html`<${Busy} isBusy=${retry.isBusy} onClick=${retry.run}>Retry<//>`}</td></tr>`;
}

const COLOURS = ["is-kept", "is-digest", "is-running", "is-refresh", "is-quote", "is-left", "is-fixed"];

function Spend({ spend }) {
  const rows = spend.by_model || [];
  const nameOf = one => `${one.model || "unknown model"} · ${words(one.purpose)}`;
  const colourOf = index => COLOURS[index % COLOURS.length];
  const parts = rows.map((one, index) => ({ label: nameOf(one), value: one.cost_usd, className: colourOf(index) }));
  return html`
    <section class="card" aria-label="Spend">
      <div class="card-head"><h2>Spend since midnight UTC</h2>${spend.per_compaction_usd != null && html`<span class="small soft">at most ${usd(spend.per_compaction_usd)} per compaction</span>`}</div>
      <p>${usd(spend.today_usd)}${spend.per_day_usd != null && html` of ${usd(spend.per_day_usd)}`}</p>
      ${rows.length === 0 ? html`<p class="soft small">No model calls today.</p>` : html`
        <div class="spend-bar"><${Bar} label="Spend by model and purpose" parts=${parts} total=${spend.per_day_usd || null} format=${usd} hasLegend=${false} /></div>
        <div class="table-box"><table><caption class="unseen">Spend by model and purpose</caption>
          <thead><tr><th scope="col">Model</th><th scope="col">For</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Tokens in</th><th scope="col" class="number">Cached</th><th scope="col" class="number">Tokens out</th><th scope="col" class="number">Cost</th></tr></thead>
          <tbody>${rows.map((one, index) => html`<tr key=${nameOf(one)}><td><span class="row"><i class=${`dot ${colourOf(index)}`}></i><${Line} value=${one.model} empty="unknown model" /></span></td><td>${words(one.purpose)}</td><td class="number">${number(one.calls_count)}</td><td class="number">${number(one.input_tokens)}</td><td class="number">${number(one.cached_tokens)}</td><td class="number">${number(one.output_tokens)}</td>
            <td class="number">${usd(one.cost_usd)}${one.uncounted_count > 0 && html` <${Tag} kind="warn" title="Their price is unknown, so no spending limit counts them">and ${number(one.uncounted_count)} unpriced<//>`}</td></tr>`)}</tbody></table></div>`}
    </section>`;
}

const show = value => (typeof value === "string" ? value : JSON.stringify(value));

const Settings = ({ settings }) => html`
  <section class="card" aria-label="Settings">
    <div class="card-head"><h2>Settings</h2><span class="small soft">${plural(settings.filter(one => one.from !== "default").length, "setting")} not at the default</span></div>
    ${settings.length === 0 ? html`<${Empty} title="No settings to show" />` : html`<div class="table-box"><table class="settings"><caption class="unseen">Settings in effect</caption>
      <thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr></thead>
      <tbody>${settings.map(one => html`<tr key=${one.key}><td class="mono small cell-key">${one.key}</td><td>${one.value === null ? html`<span class="soft small">not set</span>` : html`<${Line} className="mono small" value=${show(one.value)} max=${400} />`}</td><td>${one.from === "default" ? html`<span class="soft small">default</span>` : html`<${Tag} kind="accent">${one.from}<//>`}</td></tr>`)}</tbody></table></div>`}
  </section>`;
