// System: pending and failed compactions, spend, context sources, API keys and settings.

import { useEffect } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../lib/api.js";
import { number, plural, secs, usd, words } from "../lib/format.js";
import { CHANGES, useEngineEvents } from "../lib/live.js";
import { Bar, Busy, Empty, Failure, hrefTo, html, Line, Loaded, Table, Tag, Text, Time, toast, useAction, useLoad, useWho } from "../lib/ui.js";
import { ApiKeys } from "./system/keys.js";
import { Sources } from "./system/sources.js";

const LOOK_AGAIN_MS = 30_000;

export default function Page() {
  const { api_key: key } = useWho();
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

const Figure = ({ value, label, note, kind = "" }) => html`<li ><b class=${kind}>${value}</b><span>${label}</span>${note && html`<small>${note}</small>`}</li>`;

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
  const columns = [
    { title: "State", cell: one => html`<${Tag} kind=${one.isFailed ? "bad" : one.state === "running" ? "accent" : ""}>${words(one.state)}<//>` },
    { title: "Session", cell: one => html`<a class="mono small" href=${hrefTo("sessions", one.session_id, "compactions", { compaction: one.id })}>${String(one.session_id).slice(-8)}</a>` },
    { title: "Messages", cell: one => `${number(one.first_seq)}–${number(one.last_seq)}` },
    { title: "Trigger", cell: one => words(one.trigger) },
    { title: "Started", cell: one => html`<${Time} at=${one.begun_at} />` },
    { title: "Attempts", isNumber: true, cell: one => number(one.attempts) },
    { title: "Problem", className: "what-failed", cell: one => (one.problem ? html`<${Text} className="small" value=${one.problem} maxHeight=${66} />` : html`<span class="soft">–</span>`) },
    { title: "Actions", titleHidden: true, cell: one => one.isFailed && html`<${Retry} compaction=${one} onChanged=${onChanged} />` },
  ];
  return html`
    <section class="card" aria-label="Compactions">
      <div class="card-head"><h2>Pending and failed compactions</h2></div>
      ${rows.length === 0 ? html`<${Empty} title="No pending or failed compactions" hint="A compaction is listed here until its digest is committed." />`
        : html`<${Table} caption="Pending and failed compactions" columns=${columns} rows=${rows} keyOf=${one => `${one.session_id} ${one.id}`} />`}
    </section>`;
}

function Retry({ compaction, onChanged }) {
  const { api_key: key } = useWho();
  const retry = useAction(async () => {
    await send("POST", pathOf`/api/sessions/${compaction.session_id}/compactions/${compaction.id}/retry`);
    toast("The retry was queued");
    onChanged();
  });
  return html`${!key.read_only && html`<${Busy} isBusy=${retry.isBusy} onClick=${retry.run}>Retry<//>`}<${Failure} problem=${retry.problem} title="The retry failed" />`;
}

const COLOURS = ["is-kept", "is-digest", "is-running", "is-refresh", "is-quote", "is-folded_later", "is-fixed"];

const SPEND_COLUMNS = [
  { title: "Model", cell: one => html`<span class="row"><i class=${`dot ${one.colour}`}></i><${Line} value=${one.model} empty="unknown model" /></span>` },
  { title: "For", cell: one => words(one.purpose) },
  { title: "Calls", isNumber: true, cell: one => number(one.calls_count) },
  { title: "Tokens in", isNumber: true, cell: one => number(one.input_tokens) },
  { title: "Cached", isNumber: true, cell: one => number(one.cached_tokens) },
  { title: "Tokens out", isNumber: true, cell: one => number(one.output_tokens) },
  { title: "Cost", isNumber: true, cell: one => html`${usd(one.cost_usd)}${one.uncounted_count > 0 && html` <${Tag} kind="warn" title="Their price is unknown, so no spending limit counts them">and ${number(one.uncounted_count)} unpriced<//>`}` },
];

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
        <${Table} caption="Spend by model and purpose" columns=${SPEND_COLUMNS} rows=${rows.map((one, index) => ({ ...one, colour: colourOf(index) }))} keyOf=${nameOf} />`}
    </section>`;
}

const show = value => (typeof value === "string" ? value : JSON.stringify(value));

const SETTING_COLUMNS = [
  { title: "Setting", className: "mono small cell-key", cell: one => one.key },
  { title: "Value", cell: one => (one.value === null ? html`<span class="soft small">not set</span>` : html`<${Line} className="mono small" value=${show(one.value)} max=${400} />`) },
  { title: "From", cell: one => (one.from === "default" ? html`<span class="soft small">default</span>` : html`<${Tag} kind="accent">${one.from}<//>`) },
];

const Settings = ({ settings }) => html`
  <section class="card" aria-label="Settings">
    <div class="card-head"><h2>Settings</h2><span class="small soft">${plural(settings.filter(one => one.from !== "default").length, "setting")} not at the default</span></div>
    ${settings.length === 0 ? html`<${Empty} title="No settings to show" />`
      : html`<${Table} caption="Settings in effect" className="settings" columns=${SETTING_COLUMNS} rows=${settings} keyOf=${one => one.key} />`}
  </section>`;
