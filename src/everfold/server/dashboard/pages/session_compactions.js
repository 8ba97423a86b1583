// The compactions of a session: what each did and cost, its cache breaks, and the actions on it.
import { useEffect, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, get, pathOf, send } from "../lib/api.js";
import { number, plural, secs, usd } from "../lib/format.js";
import { Confirm, Dialog, Empty, Failure, Field, html, Id, Loading, Time, toast, useAction, useLoad, useWho } from "../lib/ui.js";
import { DigestText } from "./session_message.js";
import { useNews } from "./session_news.js";
import { CacheBreaks } from "./session_window.js";

const STATES = {
  pending: ["pending", "waits for a worker; no message was removed from the window"],
  running: ["running", "the digest is being written"],
  ready: ["ready", "the digest is written and waits for earlier compactions"],
  done: ["done", "the digest is in the window"],
  degraded: ["degraded", "the model wrote no valid digest; the extractive digest is used until a retry succeeds"],
  cancelled: ["cancelled", "cancelled; no message was removed from the window"],
};
const ACTIVE = new Set(["pending", "running", "ready"]);
const SKIPPED = {
  in_flight: "A refresh for this user and agent is already running. Nothing was stored.",
  nothing_said: "No source had anything new. Nothing was stored.",
  no_room: "The answers do not fit into the window. Nothing was stored.",
  step_open: "The model waits for tool results. The answers are kept for the next turn.",
};
const PAGE = 100;

/** All compactions of a session, oldest first: a session has few for each thousand messages. */
export async function loadCompactions(sessionId) {
  const compactions = [];
  let cursor;
  do {
    const page = await get(pathOf`/api/sessions/${sessionId}/compactions`, { limit: PAGE * 10, cursor });
    compactions.push(...page.compactions);
    cursor = page.next_cursor;
  } while (cursor);
  return compactions.sort((a, b) => a.ordinal - b.ordinal);
}

export function CompactionsTab({ sessionId, tick, openCompaction, onJump, onChanged }) {
  const compactions = useLoad(() => loadCompactions(sessionId), [sessionId]);
  const [shown, setShown] = useState(PAGE);
  useNews(sessionId, compactions.reload, tick);
  const changed = () => { compactions.reload(); onChanged?.(); };
  return html`<div class="compactions-tab">
    <${Actions} sessionId=${sessionId} onChanged=${changed} />
    ${compactions.problem ? html`<${Failure} problem=${compactions.problem} retry=${compactions.reload} />`
      : !compactions.data ? html`<${Loading} />`
      : !compactions.data.length ? html`<${Empty} title="No compactions yet" hint="The first one runs when the window passes its trigger, or when you start it above." />`
      : html`<${CompactionList} sessionId=${sessionId} compactions=${[...compactions.data].reverse().slice(0, shown)} openCompaction=${openCompaction} onJump=${onJump} onChanged=${changed} />
        ${compactions.data.length > shown && html`<button type="button" onClick=${() => setShown(shown + PAGE)}>Show ${number(Math.min(PAGE, compactions.data.length - shown))} older ones</button>`}`}
  </div>`;
}

function CompactionList({ sessionId, compactions, openCompaction, onJump, onChanged }) {
  const most = Math.max(1, ...compactions.map((compaction) => Math.max(compaction.tokens_before || 0, compaction.tokens_after || 0)));
  return html`<ol class="compactions" reversed aria-label="Compactions, newest first">
    ${compactions.map((compaction, index) => html`<${CompactionCard} key=${compaction.id} sessionId=${sessionId} compaction=${compaction} most=${most}
      isOpenFirst=${openCompaction ? compaction.id === openCompaction : index === 0} onJump=${onJump} onChanged=${onChanged} />`)}
  </ol>`;
}

/** The range of a compaction in words. */
export function describeRange(compaction) {
  if (compaction.revises) return "a late digest replaces an earlier one";
  if (compaction.last_seq < compaction.first_seq) return "older kept messages are folded";
  return compaction.first_seq === compaction.last_seq ? `message ${number(compaction.first_seq)}` : `messages ${number(compaction.first_seq)}–${number(compaction.last_seq)}`;
}

/** What a compaction did with its messages: "29 folded, 6 kept verbatim, 7 older ones folded later". */
export function describeFate(compaction) {
  if (compaction.state === "cancelled") return "no message was folded";
  if (compaction.folded_count == null) return "";
  return [`${number(compaction.folded_count)} folded`, compaction.kept_count > 0 && `${number(compaction.kept_count)} kept verbatim`,
    compaction.folded_later_count > 0 && `${number(compaction.folded_later_count)} older kept messages folded too`].filter(Boolean).join(", ");
}

const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?)]$/.test(text) ? "" : "."}`;

export function StateBadge({ state }) {
  const [name, meaning] = STATES[state] || [state, ""];
  return html`<span class=${`badge state-${state}`} title=${meaning}>${ACTIVE.has(state) && html`<i class="pulse" aria-hidden="true"></i>`}${name}</span>`;
}

function CompactionCard({ sessionId, compaction, most, isOpenFirst, onJump, onChanged }) {
  const [isOpen, setOpen] = useState(Boolean(isOpenFirst));
  return html`<li class="compaction card" data-compaction=${compaction.id}>
    <button type="button" class="compaction-head" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>
      <b class="ordinal">${compaction.ordinal}</b>
      <span class="compaction-what">${describeRange(compaction)} <em>by ${compaction.trigger}</em> <span class="compaction-fate">${describeFate(compaction)}</span></span>
      <${StateBadge} state=${compaction.state} />
      <span class="compaction-when"><${Time} at=${compaction.ended_at || compaction.begun_at} /></span>
      <${BeforeAfter} before=${compaction.tokens_before} after=${compaction.tokens_after} most=${most} />
    </button>
    ${isOpen && html`<${CompactionDetail} sessionId=${sessionId} compaction=${compaction} onJump=${onJump} onChanged=${onChanged} />`}
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

function CompactionDetail({ sessionId, compaction, onJump, onChanged }) {
  const detail = useLoad(() => get(pathOf`/api/sessions/${sessionId}/compactions/${compaction.id}`), [sessionId, compaction.id, compaction.state, compaction.attempts, compaction.ended_at]);
  if (detail.problem) return html`<${Failure} problem=${detail.problem} retry=${detail.reload} />`;
  if (!detail.data) return html`<${Loading} />`;
  const it = { ...compaction, ...detail.data };
  const rollup = (it.digests || []).find((digest) => digest.kind === "rollup");
  const facts = [
    ["compaction", html`<${Id} value=${it.id} />`],
    it.folded_count !== undefined && ["folded", plural(it.folded_count, "message")],
    it.kept_count !== undefined && ["kept", plural(it.kept_count, "message")],
    it.folded_later_count > 0 && ["folded later", `${plural(it.folded_later_count, "kept message")} of older ranges`],
    it.joined_through > 0 && ["rollup", `messages 1–${number(it.joined_through)}`],
    ["digest", it.digest_kind ? `${it.digest_kind}${it.digest_state === "pending" ? "; the model's digest follows" : ""}` : "none"],
    ["extraction", it.extraction_state],
    ["attempts", number(it.attempts || 0)],
    ["cost", it.cost_usd === null || it.cost_usd === undefined ? ((it.calls || []).length ? "unknown" : "no model call") : usd(it.cost_usd)],
    it.not_before && ["next attempt", html`<${Time} at=${it.not_before} />`],
    it.focus && ["focus", it.focus],
    ["started", html`<${Time} at=${it.begun_at} />`],
    it.ended_at && ["ended", html`<${Time} at=${it.ended_at} />`],
  ].filter(Boolean);
  return html`<div class="compaction-detail">
    <p class="compaction-state"><span class=${it.state === "degraded" ? "warn" : "soft"}>${sentence((STATES[it.state] || ["", it.state])[1])}</span>
      ${it.error && html` <span class="warn" dir="auto">${sentence(it.error)}</span>`}</p>
    <${CompactionActions} sessionId=${sessionId} compaction=${it} onChanged=${() => { detail.reload(); onChanged?.(); }} />
    <dl class="fact-grid">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    ${it.cache_breaks && html`<${CacheBreaks} breaks=${it.cache_breaks} />`}
    <div class="digests-beside">
      ${it.digest && html`<article aria-label="Digest"><h4>${it.provisional_digest ? "Final digest (by a model)" : "Digest"}</h4><${DigestText} text=${it.digest} onJump=${onJump} /></article>`}
      ${it.provisional_digest && html`<article aria-label="Provisional digest"><h4>Provisional digest (replaced by the final one)</h4><${DigestText} text=${it.provisional_digest} onJump=${onJump} /></article>`}
      ${rollup && html`<article aria-label="Rollup"><h4>Rollup of messages 1–${number(rollup.last_seq)}</h4><${DigestText} text=${rollup.text} onJump=${onJump} /></article>`}
    </div>
    <${Calls} calls=${it.calls || []} />
    <${Certificate} certificate=${it.certificate} onJump=${onJump} />
  </div>`;
}

function CompactionActions({ sessionId, compaction, onChanged }) {
  const [isBusy, setBusy] = useState(false), [asked, setAsked] = useState(false), who = useWho();
  const act = async (verb, said) => {
    setBusy(true);
    try {
      await send("POST", pathOf`/api/sessions/${sessionId}/compactions/${compaction.id}/${verb}`);
      toast(said);
      onChanged();
    } catch (problem) { toast(problem.detail || problem.message, "bad"); } finally { setBusy(false); }
  };
  const canRetry = compaction.state === "degraded", canCancel = ACTIVE.has(compaction.state);
  if ((!canRetry && !canCancel) || who?.api_key.read_only) return null;
  return html`<p class="actions">
    ${canRetry && html`<button type="button" class="primary" disabled=${isBusy} onClick=${() => act("retry", "The retry was queued.")}>${isBusy ? "Queuing…" : "Retry"}</button>`}
    ${canCancel && html`<button type="button" disabled=${isBusy} onClick=${() => setAsked(true)}>Cancel…</button>`}
    ${asked && html`<${Confirm} title=${`Cancel compaction ${compaction.ordinal}?`} confirmLabel="Cancel the compaction"
      text="This cancels the pending compaction and those after it. No message was removed."
      onConfirm=${async () => { setAsked(false); await act("cancel", "The compaction was cancelled. No message was removed."); }} onClose=${() => setAsked(false)} />`}
  </p>`;
}

function Calls({ calls }) {
  if (!calls.length) return html`<p class="soft small">No model call.</p>`;
  return html`<details class="calls" open><summary>Model calls (${number(calls.length)})</summary><div class="scroll-x"><table>
    <thead><tr><th scope="col">Model</th><th scope="col">For</th><th scope="col" class="num">In</th><th scope="col" class="num">Out</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Time</th><th scope="col">Ended</th></tr></thead>
    <tbody>${calls.map((call, index) => html`<tr key=${index}><td dir="auto">${call.model}</td><td>${call.purpose}</td><td class="num">${number(call.input_tokens || 0)}</td><td class="num">${number(call.output_tokens || 0)}</td><td class="num">${call.cost_usd === null || call.cost_usd === undefined ? "–" : usd(call.cost_usd)}</td><td class="num">${secs(call.secs)}</td><td><span class=${`tag ${call.outcome === "complete" ? "good" : "bad"}`}>${call.outcome}</span></td></tr>`)}</tbody>
  </table></div></details>`;
}

function Certificate({ certificate, onJump }) {
  const [isWhole, setWhole] = useState(false);
  if (!certificate) return html`<p class="soft small">The coverage certificate is written when the compaction is committed.</p>`;
  const covered = certificate.covered || [], shown = isWhole ? covered : covered.slice(0, 60);
  const groups = {};
  for (const it of covered) groups[it.group] = (groups[it.group] || 0) + 1;
  return html`<details class="certificate"><summary>Coverage certificate: ${Object.keys(groups).length ? Object.entries(groups).map(([group, count]) => `${number(count)} ${group}`).join(", ") : "sealed"}</summary>
    ${certificate.total_hash && html`<p class="soft small">Total hash: <code class="hash">${certificate.total_hash}</code></p>`}
    <ul class="covered">${shown.map((it) => html`<li key=${it.seq}><button type="button" class="seq-link" onClick=${() => onJump?.(it.seq)}>#${it.seq}</button> <span class="tag">${it.group}</span> <code class="hash">${(it.content_hash || "").slice(0, 12)}</code></li>`)}</ul>
    ${covered.length > shown.length && html`<button type="button" onClick=${() => setWhole(true)}>Show all ${number(covered.length)}</button>`}
    ${(certificate.folded_later || []).length > 0 && html`<p class="soft small">Folded later: ${certificate.folded_later.map((it) => `#${it.seq}`).join(", ")}</p>`}
  </details>`;
}

/** The actions on a session: compact, refresh, verify. */
function Actions({ sessionId, onChanged }) {
  const [dialog, setDialog] = useState(null), mayWrite = !useWho()?.api_key.read_only;
  const close = () => setDialog(null);
  return html`<div class="actions">
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
      <${Field} label="Newest messages to keep verbatim" error=${byField.keep_recent}>${(attrs) => html`<input ...${attrs} type="number" name="keep_recent" min="1" inputmode="numeric" placeholder="the agent's setting" value=${keep} onInput=${(event) => setKeep(event.target.value)} />`}<//>
      <${Field} label="Focus of the digest" error=${byField.focus}>${(attrs) => html`<textarea ...${attrs} name="focus" rows="2" maxlength="500" dir="auto" placeholder="the deployment, names and amounts …" value=${focus} onInput=${(event) => setFocus(event.target.value)}></textarea>`}<//>
      <p class="actions">
        <button type="button" disabled=${work !== null} onClick=${() => ask(true)}>${work === "dry" ? "Planning…" : "Dry run"}</button>
        <button type="submit" class="primary" disabled=${work !== null}>${work === "real" ? "Compacting…" : "Compact"}</button>
      </p>
    </form>
    ${work && html`<div role="status"><progress class="long-work" aria-label="Working"></progress><p class="soft small">${work === "dry" ? "Planning. Nothing is written." : "The model's digest can take a while. After the timeout, the extractive digest is used."}</p></div>`}
    ${problem && html`<${Failure} problem=${problem} />`}
    ${result && html`<${Folds} result=${result} />`}
  <//>`;
}

function Folds({ result }) {
  const { isDry, folds } = result;
  if (!folds.length) return html`<p class="notice" role="status">There is nothing to fold.${isDry ? "" : " The session did not change."}</p>`;
  const reports = folds.map((fold) => ({ ...fold, ...(fold.report || {}) }));
  const most = Math.max(1, ...reports.map((report) => report.tokens_before || 0));
  return html`<div role="status" class="folds"><h3>${isDry ? "Plan" : "Result"}</h3>
    <ol>${reports.map((report, index) => html`<li key=${index}>
      <p>Messages ${number(report.first_seq)}–${number(report.last_seq)}: <b>${plural(report.folded_count || 0, "message")} folded</b>, ${number(report.kept_count || 0)} kept${report.folded_later_count ? `, ${number(report.folded_later_count)} older kept messages folded` : ""}.</p>
      <${BeforeAfter} before=${report.tokens_before} after=${report.tokens_after} most=${most} />
      ${report.resent_tokens !== undefined && html`<p class="soft small">Cache break: ${plural(report.resent_tokens, "token")} sent again.</p>`}
      ${(report.digests || []).map((digest, at) => html`<details key=${at}><summary>${digest.kind === "rollup" ? "Rollup" : "Digest"}, ${plural(digest.tokens || 0, "token")}</summary><${DigestText} text=${digest.text || ""} /></details>`)}
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
      : !said ? html`<div role="status"><progress class="long-work" aria-label="Querying the sources"></progress><p class="soft small">Querying the context sources…</p></div>`
      : html`<div>
        <p role="status">${said.seq ? `The answers were stored as message ${number(said.seq)}.` : (SKIPPED[said.skipped] || "Nothing was stored.")}</p>
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
        ${checked.data.problems.length === 0
          ? html`<p class="sound"><b>Sound.</b> Each message is in the window or in a digest there, and the certificates match the stored messages.</p>`
          : html`<p class="bad"><b>${plural(checked.data.problems.length, "problem")}.</b> The store does not match the certificates:</p>
            <ul class="problems">${checked.data.problems.map((problem, index) => html`<li key=${index}>${problem.seq ? html`<b>#${problem.seq}</b> ` : ""}<span dir="auto">${problem.problem}</span>${problem.compaction_id ? html` <code class="hash">${problem.compaction_id}</code>` : ""}</li>`)}</ul>`}
        <p class="soft small">${Object.entries(checked.data.checked || {}).map(([name, value]) => `${typeof value === "number" ? number(value) : value} ${name.replace(/_count$/, "").replaceAll("_", " ")}`).join(" · ")}</p>
      </div>`}
  <//>`;
}
