// Why a message is recalled for a question, or is not: the messages that words find, with what became of each.
import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { isWithdrawal, useWithdrawals } from "../lib/live.js";
import { Empty, goTo, hrefTo, html, Line, Loaded, Table, Tag, Time, useLoad } from "../lib/ui.js";

const STATES = {
  on: null,
  off: "Recall is off for this agent (recall.enabled): no turn recalls anything.",
  asks_nothing: "This question has nothing to search for, so a turn with it recalls nothing.",
  nothing_folded: "Nothing of this session is folded yet: the window shows every message, so a turn recalls nothing.",
};
const VERDICTS = {
  recalled: ["recalled", "good", "The request would contain it."],
  no_room: ["no room", "warn", "It was chosen, but the space for recall was full."],
  in_window: ["in the window", "", "The window shows this message itself."],
  replaced: ["replaced", "", "A newer context refresh has replaced it."],
  no_matter: ["no content", "", "It says nothing by itself."],
  quoted: ["quoted", "", "A digest, or another part of the window, has the sentences that match."],
  few_words: ["too few words", "warn", "It has too few of the question’s words."],
  outranked: ["outranked", "", "Better matches filled the limit (recall.entries)."],
};

export function RecallTab({ sessionId, question }) {
  const [given, setGiven] = useState(question);
  const ask = (event) => { event.preventDefault(); goTo(hrefTo("sessions", sessionId, "recall", { q: given.trim() }), { replace: true }); };
  return html`<div class="stack">
    <form class="recall-form" onSubmit=${ask}>
      <label class="grow">Question <input type="search" value=${given} maxlength="4000" placeholder="What the user would ask" onInput=${(event) => setGiven(event.target.value)} /></label>
      <button type="submit" class="primary" disabled=${!given.trim()}>Explain</button>
    </form>
    ${question ? html`<${Explained} sessionId=${sessionId} question=${question} />` : html`<p class="soft">Enter a question to see which older messages recall would add to the next request, and why others are left out.</p>`}
  </div>`;
}

function Explained({ sessionId, question }) {
  const load = useLoad(({ signal }) => get(pathOf`/api/sessions/${sessionId}/recall`, { q: question }, { signal }), [sessionId, question]);
  const sessions = [sessionId, ...(load.data?.reasons || []).map((one) => one.session_id)]; // it recalls from others of the user too
  useWithdrawals((one) => isWithdrawal(one) && sessions.includes(one.session_id), load);
  return html`<${Loaded} load=${load}>${({ state, reasons }) => html`
    ${STATES[state] && html`<p class="notice" role="status">${STATES[state]}</p>`}
    ${reasons.length === 0
      ? html`<section class="card"><${Empty} title="No message has these words" hint="Recall compares words, and also meaning when an embedder is configured; results found only by meaning are not shown here." /></section>`
      : html`<p class="small soft count-line" role="status">${plural(reasons.length, "message")} found by words, ${number(reasons.filter((one) => one.verdict === "recalled").length)} recalled. A message is also found by the words of the messages just before it.</p>
        <section class="card" aria-label="Recall, message by message"><${Table} caption="What became of each message" columns=${COLUMNS} rows=${reasons} keyOf=${(one) => `${one.session_id}:${one.seq}`} /></section>`}`}<//>`;
}

const COLUMNS = [
  { title: "Result", cell: (one) => { const [name, kind, meaning] = VERDICTS[one.verdict]; return html`<${Tag} kind=${kind} title=${meaning}>${name}<//><div class="small soft recall-why">${meaning}</div>`; } },
  { title: "Message", className: "cell-line recall-message", cell: (one) => html`<a href=${hrefTo("sessions", one.session_id, "log", { seq: one.seq })}>#${number(one.seq)}</a> <span class="small soft">${one.role} <${Time} at=${one.said_at} /></span><${Line} value=${one.excerpt} max=${400} as="div" />` },
  { title: "Score", cell: (one) => html`<span class="nowrap" title="of the best score">${Math.round(100 * one.share)} %</span> <span class="small soft nowrap">place ${number(one.place)}</span>` },
  { title: "Words missing", cell: (one) => html`<span class="small">${one.missing.length ? one.missing.slice(0, 8).join(", ") : "none"}${one.missing.length > 8 ? ` and ${number(one.missing.length - 8)} more` : ""}</span>` },
];
