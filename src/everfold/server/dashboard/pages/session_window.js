// The window inspector: the parts of the window in their order, and the request exactly as it would be sent.
import { useMemo, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { Empty, Failure, html, Loading, Text, useLoad } from "../lib/ui.js";
import { DigestText } from "./session_message.js";
import { useNews } from "./session_news.js";

/** The colour of each slice and kind of part; slices without a fate have a class of their own. */
const SLICES = {
  fixed: ["fixed part", "system prompt, tools, snapshot at its limit, reserve for the dynamic suffix"],
  head: ["head", "the first user message"],
  kept: ["kept", "older messages, kept verbatim"],
  digest: ["digests", "digests of the folded messages"],
  standing: ["standing instructions", "exact quotes of the user's standing instructions"],
  snapshot: ["snapshot", "memory of the user"],
  refresh: ["context refresh", "the latest answers of the context sources"],
  running: ["running", "the user message of the running turn"],
  tail: ["tail", "the newest messages"],
  suffix: ["dynamic suffix", "added at the end of this request only; never stored"],
};
const SWATCH = { digest: "digest", standing: "quote", snapshot: "snapshot", suffix: "suffix" };
export const swatchOf = (name) => `is-${SWATCH[name] || name}`;
const sliceName = (name) => (SLICES[name] || [name.replaceAll("_", " ")])[0];

const VIEWS = [["parts", "Parts"], ["openai", "OpenAI"], ["anthropic", "Anthropic"]];

/** What the model sees now. `isNarrow` is the form beside a chat. */
export function WindowInspector({ sessionId, userId, isNarrow = false, tick = 0, onJump }) {
  const [view, setView] = useState("parts");
  const [limit, setLimit] = useState("");
  const [tried, setTried] = useState(null);
  const provider = view === "parts" ? "openai" : view;
  const window_ = useLoad(
    () => get(pathOf`/api/sessions/${sessionId}/window`, { limit: tried || undefined, provider }),
    [sessionId, tried, provider],
  );
  const note = useLoad(() => get(pathOf`/api/sessions/${sessionId}/note`).catch(() => ({ note: "" })), [sessionId]);
  useNews(sessionId, () => { window_.reload(); note.reload(); }, tick, { memoryOf: userId });
  const data = window_.data;
  return html`<section class=${`window-inspector${isNarrow ? " narrow" : ""}`} aria-label="Window inspector">
    <div class="window-tools">
      <div class="switch" role="group" aria-label="How the window is shown">
        ${VIEWS.map(([name, label]) => html`<button key=${name} type="button" aria-pressed=${view === name ? "true" : "false"} onClick=${() => setView(name)}>${name !== "parts" && html`<span class=${isNarrow ? "unseen" : "as-sent-word"}>As sent: </span>`}${label}</button>`)}
      </div>
      <form class="try-limit" onSubmit=${(event) => { event.preventDefault(); setTried(Number(limit) > 0 ? Number(limit) : null); }}>
        <label>Try a lower limit <input type="number" min="1" inputmode="numeric" placeholder=${data ? String(data.report.limit_tokens) : "tokens"} value=${limit} onInput=${(event) => setLimit(event.target.value)} /></label>
        <button type="submit">Preview</button>
        ${tried && html`<button type="button" onClick=${() => { setTried(null); setLimit(""); }}>Reset the limit</button>`}
      </form>
    </div>
    ${tried && html`<p class="notice" role="status">A preview at ${plural(tried, "token")}. The session does not change.</p>`}
    ${window_.problem ? html`<${Failure} problem=${window_.problem} retry=${window_.reload} />`
      : !data ? html`<${Loading} />`
      : html`<${WindowReport} report=${data.report} isNarrow=${isNarrow} hasSlices=${view === "parts"} />
        ${note.data && note.data.note && html`<aside class="continuity"><h4>Continuity note</h4><${Text} value=${note.data.note} /></aside>`}
        ${view === "parts" ? html`<${Parts} parts=${data.parts} onJump=${onJump} />` : html`<${AsSent} request=${data.request} />`}`}
  </section>`;
}

function WindowReport({ report, isNarrow, hasSlices }) {
  const slices = report.slices.filter((slice) => slice.tokens > 0 || slice.limit_tokens > 0);
  const total = report.budget_tokens, free = Math.max(0, total - report.tokens);
  const sum = slices.reduce((all, slice) => all + slice.tokens, 0);
  const percent = (tokens) => `${(100 * tokens) / Math.max(report.limit_tokens, 1)}%`;
  const shown = slices.filter((slice) => slice.tokens > 0);
  return html`<div class="window-report">
    <ul class="figures" aria-label="Figures of the window">
      <li><b>${number(report.tokens)}</b><span>tokens in the window</span><small>${Math.round((100 * report.tokens) / Math.max(total, 1))} % of the budget</small></li>
      <li><b>${number(report.budget_tokens)}</b><span>budget</span><small>context limit less the reserve for the answer</small></li>
      <li><b>${number(report.usable_tokens)}</b><span>usable budget</span><small>budget less the fixed part of ${number(report.fixed_tokens)}</small></li>
      <li><b>${number(report.limit_tokens)}</b><span>context limit</span><small>${report.calibration ? `calibrated × ${Number(report.calibration).toFixed(2)}` : "what the model accepts"}</small></li>
    </ul>
    <div class="window-bar" role="img" aria-label=${`The window: ${shown.map((slice) => `${sliceName(slice.name)} ${number(slice.tokens)}`).join(", ")}; ${number(free)} free of a budget of ${number(total)} tokens`}>
      ${shown.map((slice) => html`<span key=${slice.name} class=${swatchOf(slice.name)} title=${`${sliceName(slice.name)}: ${plural(slice.tokens, "token")}`} style=${{ width: percent(slice.tokens) }}></span>`)}
      ${report.trigger_tokens && html`<i class="trigger-mark" style=${{ left: percent(report.fixed_tokens + report.trigger_tokens) }} title=${`Compaction is due at ${plural(report.fixed_tokens + report.trigger_tokens, "token")}`}></i>`}
      <i class="budget-mark" style=${{ left: percent(total) }} title=${`Budget: ${plural(total, "token")}`}></i>
    </div>
    <p class="small soft marks"><i class="budget-mark" aria-hidden="true"></i>budget ${report.trigger_tokens && html`<i class="trigger-mark" aria-hidden="true"></i>compaction is due`}</p>
    ${hasSlices && html`<div class="card slices-card"><table class="slices">
      <caption class="unseen">Slices of the window with their limits</caption>
      <thead><tr><th scope="col">Slice</th><th scope="col" class="num">Tokens</th><th scope="col" class="num">Limit</th>${!isNarrow && html`<th scope="col" class="wide">Filled</th>`}</tr></thead>
      <tbody>
        ${slices.map((slice) => html`<tr key=${slice.name} data-slice=${slice.name}>
          <th scope="row" title=${(SLICES[slice.name] || ["", ""])[1]}><i class=${`swatch ${swatchOf(slice.name)}`} aria-hidden="true"></i>${sliceName(slice.name)}</th>
          <td class="num">${number(slice.tokens)}</td>
          <td class="num">${slice.limit_tokens ? number(slice.limit_tokens) : html`<span class="soft">–</span>`}</td>
          ${!isNarrow && html`<td class="wide">${slice.limit_tokens ? html`<span class="fill" title=${`${Math.round((100 * slice.tokens) / slice.limit_tokens)} %`}><i class=${swatchOf(slice.name)} style=${{ width: `${Math.min(100, (100 * slice.tokens) / slice.limit_tokens)}%` }}></i></span>` : ""}</td>`}
        </tr>`)}
      </tbody>
      <tfoot><tr><th scope="row">total</th><td class="num" data-sum=${sum}>${number(sum)}</td><td></td>${!isNarrow && html`<td></td>`}</tr></tfoot>
    </table></div>`}
    <${CacheBreaks} breaks=${report.cache_breaks || []} />
    ${(report.full_slices || []).length > 0 && html`<p class="notice">Slices at their limit: ${report.full_slices.map(sliceName).join(", ")}. Compaction could not bring the window below its trigger.</p>`}
    ${report.standing_left_out?.count > 0 && html`<p class="notice">The standing instructions are at their limit: ${plural(report.standing_left_out.count, "quote")} of messages ${number(report.standing_left_out.first_seq)}–${number(report.standing_left_out.last_seq)} left out.</p>`}
    ${(report.withheld_seqs || []).length > 0 && html`<p class="notice">Withheld until their tool results arrive: ${report.withheld_seqs.map((seq) => `#${seq}`).join(", ")}.</p>`}
    ${(report.memory || []).length > 0 && html`<details class="memory-lines"><summary>Memory in the window</summary><ul>${report.memory.map((line, index) => html`<li key=${index} dir="auto">${line}</li>`)}</ul></details>`}
  </div>`;
}

/** The cache breaks of a request: why its beginning differs from the previous one, and how many tokens are sent again. */
export function CacheBreaks({ breaks }) {
  if (!breaks.length) return html`<p class="soft small">No cache break: this request only adds to the end of the previous one.</p>`;
  return html`<ul class="breaks" aria-label="Cache breaks">${breaks.map((broken, index) => html`<li key=${index}><b>Cache break</b> <span class="tag">${broken.reason}</span> ${plural(broken.resent_tokens, "token")} sent again</li>`)}</ul>`;
}

const rangeText = (part) => {
  if (!part.first_seq) return "";
  return part.first_seq === part.last_seq || !part.last_seq ? `#${number(part.first_seq)}` : `#${number(part.first_seq)}–${number(part.last_seq)}`;
};

function Parts({ parts, onJump }) {
  const most = Math.max(1, ...parts.map((part) => part.tokens));
  const cached = useMemo(() => parts.filter((part) => part.is_cached).reduce((sum, part) => sum + part.tokens, 0), [parts]);
  const all = parts.reduce((sum, part) => sum + part.tokens, 0);
  if (!parts.length) return html`<${Empty} title="The window is empty" hint="This session has no messages yet." />`;
  return html`<div class="window-parts">
    <p class="soft small">${plural(parts.length, "part")} in the order of the request · <span class="cache-key cached">cached ${number(cached)}</span> <span class="cache-key">not cached ${number(all - cached)}</span></p>
    <ol class="part-rows">
      ${parts.map((part, index) => html`<${PartRow} key=${`${index}:${part.kind}:${part.first_seq}`} part=${part} most=${most} onJump=${onJump} />`)}
    </ol>
  </div>`;
}

function PartRow({ part, most, onJump }) {
  const [isOpen, setOpen] = useState(false);
  const name = part.kind === "digest" ? "digest" : sliceName(part.kind), range = rangeText(part);
  const first = (part.text || "").replace(/\s+/g, " ").slice(0, 160);
  return html`<li class=${part.is_cached ? "cached" : ""}>
    <button type="button" class="part-head" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>
      <i class=${`swatch ${swatchOf(part.kind)}`} aria-hidden="true"></i>
      <span class="part-kind">${name}</span>
      <span class="part-range">${range}</span>
      <span class="part-tokens">${number(part.tokens)}</span>
      <span class="part-bar" aria-hidden="true"><i class=${swatchOf(part.kind)} style=${{ width: `${Math.max(0.5, (100 * part.tokens) / most)}%` }}></i></span>
      <span class=${`cache-key${part.is_cached ? " cached" : ""}`}>${part.is_cached ? "cached" : "new"}</span>
      <span class="part-first" dir="auto">${first}</span>
    </button>
    ${isOpen && html`<div class="part-body">
      ${onJump && part.first_seq && part.first_seq === part.last_seq && html`<p><button type="button" onClick=${() => onJump(part.first_seq)}>Show message ${number(part.first_seq)} in the log</button></p>`}
      ${part.kind === "digest" ? html`<${DigestText} text=${part.text || ""} onJump=${onJump} />` : html`<${Text} value=${part.text || ""} />`}
    </div>`}
  </li>`;
}

function AsSent({ request }) {
  const text = useMemo(() => JSON.stringify(request, null, 2), [request]);
  return html`<div class="as-sent"><p class="soft small">The request exactly as it would be sent: ${plural(text.length, "character")} with this indentation.</p><div class="card"><${Text} value=${text} className="code" maxHeight=${640} /></div></div>`;
}
