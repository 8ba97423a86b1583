// The compactions of a session: what each did, what it cost and broke, and what a person can ask for.
import { useEffect, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, get, pathOf, send } from "../lib/api.js";
import { number, plural, secs, usd } from "../lib/format.js";
import { Confirm, Dialog, Empty, Failure, Field, html, Id, Loading, Time, toast, useAction, useLoad, useWho } from "../lib/ui.js";
import { DigestText } from "./session_message.js";
import { useNews } from "./session_news.js";
import { Breaks } from "./session_window.js";

const STATES = {
  pending: ["waiting", "waits for a worker; its messages are still in the window"],
  running: ["working", "a worker makes its digest"],
  ready: ["ready", "its digest waits for the events before it"],
  done: ["done", "its digest is in force"],
  degraded: ["degraded", "no model's digest passed: the extractive one stays until somebody retries"],
  cancelled: ["cancelled", "given up; nothing had left the window"],
};
const ACTIVE = new Set(["pending", "running", "ready"]);
const SKIPPED = {
  in_flight: "A refresh of the same user and agent is on its way; nothing was stored.",
  nothing_said: "No source had anything to say; nothing was stored.",
  no_room: "The window has no space for what they said; nothing was stored.",
  step_open: "The model waits for tool results; what they said is kept for the next turn.",
};
const PAGE = 100;

/** All events of a session, oldest first: a session has few for each thousand messages. */
export async function loadEvents(sessionId) {
  const events = [];
  let cursor;
  do {
    const page = await get(pathOf`/api/sessions/${sessionId}/events`, { limit: PAGE * 10, cursor });
    events.push(...page.events);
    cursor = page.next_cursor;
  } while (cursor);
  return events.sort((a, b) => a.ordinal - b.ordinal);
}

export function EventsTab({ sessionId, tick, openEvent, onJump, onChanged }) {
  const events = useLoad(() => loadEvents(sessionId), [sessionId]);
  const [shown, setShown] = useState(PAGE);
  useNews(sessionId, events.reload, tick);
  const changed = () => { events.reload(); onChanged?.(); };
  return html`<div class="events-tab">
    <${Works} sessionId=${sessionId} onChanged=${changed} />
    ${events.problem ? html`<${Failure} problem=${events.problem} retry=${events.reload} />`
      : !events.data ? html`<${Loading} />`
      : !events.data.length ? html`<${Empty} title="Nothing was folded yet" hint="The first compaction comes when the window passes its trigger, or when you ask for it above." />`
      : html`<${EventList} sessionId=${sessionId} events=${[...events.data].reverse().slice(0, shown)} openEvent=${openEvent} onJump=${onJump} onChanged=${changed} />
        ${events.data.length > shown && html`<button type="button" onClick=${() => setShown(shown + PAGE)}>Show ${number(Math.min(PAGE, events.data.length - shown))} older ones</button>`}`}
  </div>`;
}

function EventList({ sessionId, events, openEvent, onJump, onChanged }) {
  const most = Math.max(1, ...events.map((event) => Math.max(event.tokens_before || 0, event.tokens_after || 0)));
  return html`<ol class="events" reversed aria-label="Compactions, newest first">
    ${events.map((event, index) => html`<${EventCard} key=${event.id} sessionId=${sessionId} event=${event} most=${most}
      isOpenFirst=${openEvent ? event.id === openEvent : index === 0} onJump=${onJump} onChanged=${onChanged} />`)}
  </ol>`;
}

/** What an event decided about, in words. */
export function describeRange(event) {
  if (event.revises) return "a model's digest takes the place of an earlier one";
  if (event.last_seq < event.first_seq) return "older messages leave";
  return event.first_seq === event.last_seq ? `message ${number(event.first_seq)}` : `messages ${number(event.first_seq)}–${number(event.last_seq)}`;
}

const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?)]$/.test(text) ? "" : "."}`;

export function StateBadge({ state }) {
  const [name, meaning] = STATES[state] || [state, ""];
  return html`<span class=${`badge state-${state}`} title=${meaning}>${ACTIVE.has(state) && html`<i class="pulse" aria-hidden="true"></i>`}${name}</span>`;
}

function EventCard({ sessionId, event, most, isOpenFirst, onJump, onChanged }) {
  const [isOpen, setOpen] = useState(Boolean(isOpenFirst));
  return html`<li class="event card" data-event=${event.id}>
    <button type="button" class="event-head" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>
      <b class="ordinal">${event.ordinal}</b>
      <span class="event-what">${describeRange(event)} <em>by ${event.trigger}</em></span>
      <${StateBadge} state=${event.state} />
      <span class="event-when"><${Time} at=${event.ended_at || event.begun_at} /></span>
      <${BeforeAfter} before=${event.tokens_before} after=${event.tokens_after} most=${most} />
    </button>
    ${isOpen && html`<${EventDetail} sessionId=${sessionId} event=${event} onJump=${onJump} onChanged=${onChanged} />`}
  </li>`;
}

/** Tokens before and after as two bars of one scale. */
export function BeforeAfter({ before, after, most }) {
  if (before === undefined || before === null) return null;
  const percent = (tokens) => `${(100 * (tokens || 0)) / Math.max(most, 1)}%`;
  return html`<span class="before-after" aria-label=${`${number(before)} tokens before, ${after === null || after === undefined ? "not known" : number(after)} after`}>
    <span class="bar-line"><span><i class="bar-before" style=${{ width: percent(before) }}></i></span><small>${number(before)}</small></span>
    ${after !== null && after !== undefined && html`<span class="bar-line"><span><i class="bar-after" style=${{ width: percent(after) }}></i></span><small>${number(after)}</small></span>`}
  </span>`;
}

function EventDetail({ sessionId, event, onJump, onChanged }) {
  const detail = useLoad(() => get(pathOf`/api/sessions/${sessionId}/events/${event.id}`), [sessionId, event.id, event.state, event.attempts, event.ended_at]);
  if (detail.problem) return html`<${Failure} problem=${detail.problem} retry=${detail.reload} />`;
  if (!detail.data) return html`<${Loading} />`;
  const it = { ...event, ...detail.data };
  const coarse = (it.digests || []).find((digest) => digest.kind === "coarse");
  const facts = [
    ["event", html`<${Id} value=${it.id} />`],
    it.folded_count !== undefined && ["folded", plural(it.folded_count, "message")],
    it.kept_count !== undefined && ["kept", plural(it.kept_count, "message")],
    it.left_count > 0 && ["left", `${plural(it.left_count, "kept message")} of older ranges`],
    it.joined_through > 0 && ["joined", `all up to message ${number(it.joined_through)} is in the coarse digest`],
    ["digest", it.digest_kind ? `${it.digest_kind}${it.digest_state === "pending" ? "; a model's is on its way" : ""}` : "none"],
    ["extraction", it.extraction_state],
    ["attempts", number(it.attempts || 0)],
    ["cost", it.cost_usd === null || it.cost_usd === undefined ? "not known, or no model" : usd(it.cost_usd)],
    it.not_before && ["tried again", html`<${Time} at=${it.not_before} />`],
    it.focus && ["focus", it.focus],
    ["begun", html`<${Time} at=${it.begun_at} />`],
    it.ended_at && ["ended", html`<${Time} at=${it.ended_at} />`],
  ].filter(Boolean);
  return html`<div class="event-detail">
    <p class="event-state"><span class=${it.state === "degraded" ? "warn" : "soft"}>${sentence((STATES[it.state] || ["", it.state])[1])}</span>
      ${it.error && html` <span class="warn" dir="auto">${sentence(it.error)}</span>`}</p>
    <${EventActions} sessionId=${sessionId} event=${it} onChanged=${() => { detail.reload(); onChanged?.(); }} />
    <dl class="fact-grid">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    ${it.breaks && html`<${Breaks} breaks=${it.breaks} />`}
    <div class="digests-beside">
      ${it.digest && html`<article aria-label="Its digest"><h4>${it.provisional_digest ? "Final digest, by a model" : "Its digest"}</h4><${DigestText} text=${it.digest} onJump=${onJump} /></article>`}
      ${it.provisional_digest && html`<article aria-label="Provisional digest"><h4>Provisional digest, which stood until then</h4><${DigestText} text=${it.provisional_digest} onJump=${onJump} /></article>`}
      ${coarse && html`<article aria-label="Coarse digest"><h4>Coarse digest of all up to ${number(coarse.last_seq)}</h4><${DigestText} text=${coarse.text} onJump=${onJump} /></article>`}
    </div>
    <${Calls} calls=${it.calls || []} />
    <${Certificate} certificate=${it.certificate} onJump=${onJump} />
  </div>`;
}

function EventActions({ sessionId, event, onChanged }) {
  const [isBusy, setBusy] = useState(false), [asked, setAsked] = useState(false), who = useWho();
  const act = async (verb, said) => {
    setBusy(true);
    try {
      await send("POST", pathOf`/api/sessions/${sessionId}/events/${event.id}/${verb}`);
      toast(said);
      onChanged();
    } catch (problem) { toast(problem.detail || problem.message, "bad"); } finally { setBusy(false); }
  };
  const canRetry = event.state === "degraded", canCancel = ACTIVE.has(event.state);
  if ((!canRetry && !canCancel) || who?.key.read_only) return null;
  return html`<p class="actions">
    ${canRetry && html`<button type="button" class="primary" disabled=${isBusy} onClick=${() => act("retry", "A worker takes it again.")}>${isBusy ? "Asking…" : "Retry"}</button>`}
    ${canCancel && html`<button type="button" disabled=${isBusy} onClick=${() => setAsked(true)}>Cancel…</button>`}
    ${asked && html`<${Confirm} title=${`Cancel compaction ${event.ordinal}?`} confirmLabel="Cancel it"
      text="Its messages stay in the window. Later held compactions of this session are cancelled with it."
      onConfirm=${async () => { setAsked(false); await act("cancel", "It was cancelled; nothing has left the window."); }} onClose=${() => setAsked(false)} />`}
  </p>`;
}

function Calls({ calls }) {
  if (!calls.length) return html`<p class="soft small">No model was called for it.</p>`;
  return html`<details class="calls" open><summary>Calls of models (${number(calls.length)})</summary><div class="scroll-x"><table>
    <thead><tr><th scope="col">Model</th><th scope="col">For</th><th scope="col" class="num">In</th><th scope="col" class="num">Out</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Time</th><th scope="col">Ended</th></tr></thead>
    <tbody>${calls.map((call, index) => html`<tr key=${index}><td dir="auto">${call.model}</td><td>${call.purpose}</td><td class="num">${number(call.input_tokens || 0)}</td><td class="num">${number(call.output_tokens || 0)}</td><td class="num">${call.cost_usd === null || call.cost_usd === undefined ? "–" : usd(call.cost_usd)}</td><td class="num">${secs(call.secs)}</td><td><span class=${`tag ${call.outcome === "complete" ? "good" : "bad"}`}>${call.outcome}</span></td></tr>`)}</tbody>
  </table></div></details>`;
}

function Certificate({ certificate, onJump }) {
  const [isWhole, setWhole] = useState(false);
  if (!certificate) return html`<p class="soft small">Its certificate is committed with it.</p>`;
  const covered = certificate.covered || [], shown = isWhole ? covered : covered.slice(0, 60);
  const groups = {};
  for (const it of covered) groups[it.group] = (groups[it.group] || 0) + 1;
  return html`<details class="certificate"><summary>Coverage certificate: ${Object.keys(groups).length ? Object.entries(groups).map(([group, count]) => `${number(count)} ${group}`).join(", ") : "sealed"}</summary>
    ${certificate.total_hash && html`<p class="soft small">Hash over all of it: <code class="hash">${certificate.total_hash}</code></p>`}
    <ul class="covered">${shown.map((it) => html`<li key=${it.seq}><button type="button" class="seq-link" onClick=${() => onJump?.(it.seq)}>#${it.seq}</button> <span class="tag">${it.group}</span> <code class="hash">${(it.content_hash || "").slice(0, 12)}</code></li>`)}</ul>
    ${covered.length > shown.length && html`<button type="button" onClick=${() => setWhole(true)}>Show all ${number(covered.length)}</button>`}
    ${(certificate.left || []).length > 0 && html`<p class="soft small">Left the window: ${certificate.left.map((it) => `#${it.seq}`).join(", ")}</p>`}
  </details>`;
}

/** What can be asked for now: compact, refresh, verify. */
function Works({ sessionId, onChanged }) {
  const [dialog, setDialog] = useState(null), mayWrite = !useWho()?.key.read_only;
  const close = () => setDialog(null);
  return html`<div class="works actions">
    ${mayWrite && html`<button type="button" class="primary" onClick=${() => setDialog("compact")}>Compact now…</button>
    <button type="button" onClick=${() => setDialog("refresh")}>Refresh now</button>`}
    <button type="button" onClick=${() => setDialog("verify")}>Verify</button>
    ${dialog === "compact" && html`<${CompactDialog} sessionId=${sessionId} onClose=${close} onChanged=${onChanged} />`}
    ${dialog === "refresh" && html`<${RefreshDialog} sessionId=${sessionId} onClose=${close} onChanged=${onChanged} />`}
    ${dialog === "verify" && html`<${VerifyDialog} sessionId=${sessionId} onClose=${close} />`}
  </div>`;
}

function CompactDialog({ sessionId, onClose, onChanged }) {
  const [keep, setKeep] = useState(""), [focus, setFocus] = useState("");
  const [work, setWork] = useState(null), [result, setResult] = useState(null), [problem, setProblem] = useState(null);
  const ask = async (isDry) => {
    setWork(isDry ? "dry" : "real"); setProblem(null); setResult(null);
    try {
      const { data } = await send("POST", pathOf`/api/sessions/${sessionId}/compact`, {
        ...(keep ? { keep_recent: Number(keep) } : {}), ...(focus.trim() ? { focus: focus.trim() } : {}), dry_run: isDry,
      });
      setResult({ isDry, folds: data.folds || [] });
      if (!isDry) onChanged();
    } catch (failed) { setProblem(failed); } finally { setWork(null); }
  };
  const byField = errorsByField(problem);
  return html`<${Dialog} title="Compact now" onClose=${onClose}>
    <form class="form" onSubmit=${(event) => { event.preventDefault(); ask(false); }}>
      <${Field} label="Newest messages that stay as they are" error=${byField.keep_recent}>${(attrs) => html`<input ...${attrs} type="number" name="keep_recent" min="1" inputmode="numeric" placeholder="as set for the agent" value=${keep} onInput=${(event) => setKeep(event.target.value)} />`}<//>
      <${Field} label="What the digest should rather hold" error=${byField.focus}>${(attrs) => html`<textarea ...${attrs} name="focus" rows="2" maxlength="500" dir="auto" placeholder="the deployment, names and amounts …" value=${focus} onInput=${(event) => setFocus(event.target.value)}></textarea>`}<//>
      <p class="actions">
        <button type="button" disabled=${work !== null} onClick=${() => ask(true)}>${work === "dry" ? "Looking…" : "Dry run"}</button>
        <button type="submit" class="primary" disabled=${work !== null}>${work === "real" ? "Compacting…" : "Compact"}</button>
      </p>
    </form>
    ${work && html`<div role="status"><progress class="long-work" aria-label="Working"></progress><p class="soft small">${work === "dry" ? "Planning; nothing is written." : "A model's digest may take a while; after its time-out the extractive one stands."}</p></div>`}
    ${problem && html`<${Failure} problem=${problem} />`}
    ${result && html`<${Folds} result=${result} />`}
  <//>`;
}

function Folds({ result }) {
  const { isDry, folds } = result;
  if (!folds.length) return html`<p class="notice" role="status">There is nothing to fold${isDry ? "" : ": the session stays as it is"}.</p>`;
  const reports = folds.map((fold) => ({ ...fold, ...(fold.report || {}) }));
  const most = Math.max(1, ...reports.map((report) => report.tokens_before || 0));
  return html`<div role="status" class="folds"><h3>${isDry ? "What would be done" : "What was done"}</h3>
    <ol>${reports.map((report, index) => html`<li key=${index}>
      <p>Messages ${number(report.first_seq)}–${number(report.last_seq)}: <b>${plural(report.folded_count || 0, "message")} folded</b>, ${number(report.kept_count || 0)} kept${report.left_count ? `, ${number(report.left_count)} older ones leave` : ""}.</p>
      <${BeforeAfter} before=${report.tokens_before} after=${report.tokens_after} most=${most} />
      ${report.break_cost_tokens !== undefined && html`<p class="soft small">The break costs ${plural(report.break_cost_tokens, "token")} that the provider's cache reads again.</p>`}
      ${(report.digests || []).map((digest, at) => html`<details key=${at}><summary>${digest.kind || "Its"} digest, ${plural(digest.tokens || 0, "token")}</summary><${DigestText} text=${digest.text || ""} /></details>`)}
    </li>`)}</ol>
  </div>`;
}

function RefreshDialog({ sessionId, onClose, onChanged }) {
  const asked = useAction(async () => {
    const { data } = await send("POST", pathOf`/api/sessions/${sessionId}/refresh`);
    setSaid(data);
    onChanged?.();
  });
  const [said, setSaid] = useState(null);
  useEffect(() => { asked.run(); }, []);
  const sources = said?.sources || [];
  return html`<${Dialog} title="Refresh now" onClose=${onClose}>
    ${asked.problem ? html`<${Failure} problem=${asked.problem} retry=${asked.run} />`
      : !said ? html`<div role="status"><progress class="long-work" aria-label="Asking the sources"></progress><p class="soft small">Asking the context sources…</p></div>`
      : html`<div>
        <p role="status">${said.seq ? `What they said is message ${number(said.seq)}.` : (SKIPPED[said.skipped] || "Nothing was stored.")}</p>
        <ul class="said">${sources.map((source, index) => html`<li key=${index}><b dir="auto">${source.source}</b> <span class="tag">${source.outcome}</span> ${source.tokens ? plural(source.tokens, "token") : ""} ${secs(source.elapsed_secs)} ${source.problem && html`<span class="bad" dir="auto">${source.problem}</span>`}</li>`)}</ul>
      </div>`}
  <//>`;
}

function VerifyDialog({ sessionId, onClose }) {
  const checked = useLoad(() => get(pathOf`/api/sessions/${sessionId}/verify`), [sessionId]);
  return html`<${Dialog} title="Verify" onClose=${onClose}>
    ${checked.problem ? html`<${Failure} problem=${checked.problem} retry=${checked.reload} />`
      : !checked.data ? html`<div role="status"><progress class="long-work" aria-label="Verifying"></progress><p class="soft small">Checking every message and certificate…</p></div>`
      : html`<div role="status">
        ${checked.data.findings.length === 0
          ? html`<p class="sound"><b>Sound.</b> Every guarantee holds: each message is shown or read by a digest that is shown, and the certificates match what is stored.</p>`
          : html`<p class="bad"><b>${plural(checked.data.findings.length, "finding")}.</b> What is stored is not as the certificates say:</p>
            <ul class="findings">${checked.data.findings.map((finding, index) => html`<li key=${index}>${finding.seq ? html`<b>#${finding.seq}</b> ` : ""}<span dir="auto">${finding.problem}</span>${finding.event_id ? html` <code class="hash">${finding.event_id}</code>` : ""}</li>`)}</ul>`}
        <p class="soft small">${Object.entries(checked.data.checked || {}).map(([name, value]) => `${typeof value === "number" ? number(value) : value} ${name.replace(/_count$/, "").replaceAll("_", " ")}`).join(" · ")}</p>
      </div>`}
  <//>`;
}
