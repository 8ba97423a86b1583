// The entries of a conversation: messages, tool calls, notes and problems.
import { number } from "../lib/format.js";
import { Markdown } from "../lib/markdown.js";
import { Failure, html, Text, Time } from "../lib/ui.js";
import { describeNote, interruptionOf, partsOf, wordsOf } from "./chat_turn.js";
import { sessionHref } from "./session.js";

export function Entry({ entry, sessionId, turn }) {
  if (entry.kind === "message") return html`<${Stored} message=${entry.message} answers=${entry.answers} sessionId=${sessionId} />`;
  if (entry.kind === "pending") return html`<${Bubble} side="user" seq=${entry.seq} sessionId=${sessionId}><${Markdown} value=${entry.text} maxHeight=${420} /><//>`;
  if (entry.kind === "draft") return html`<${Bubble} side="assistant"><div class="text draft" dir="auto">${entry.text}</div><//>`;
  if (entry.kind === "said") return html`<${Bubble} side="assistant" seq=${entry.seq} sessionId=${sessionId} isStopped=${entry.isStopped}><${Markdown} value=${entry.text} maxHeight=${600} /><//>`;
  if (entry.kind === "tool") return html`<${Tool} call=${entry.call} answer=${entry.answer} />`;
  if (entry.kind === "note") return html`<p class=${`note note-${entry.event}`} role="status" dir="auto">${describeNote(entry.event, entry.data)}</p>`;
  if (entry.kind === "open") return html`<${Open} missing=${entry.missing} turn=${turn} />`;
  if (entry.kind === "lost") return html`<p class="note note-stopped" role="status">The connection was lost during the answer. The text up to then is stored. This page reconnects automatically.</p>`;
  return html`<${Failure} problem=${entry.problem} title="The answer failed" retry=${turn.isOn ? null : turn.again} />`;
}

const Seq = ({ seq, sessionId }) => (seq && sessionId ? html`<a class="seq small" href=${sessionHref(sessionId, "log", seq)} title="Show it in the log">#${number(seq)}</a>` : "");

const Bubble = ({ side, name, seq, sessionId, at, isStopped, children }) => html`<article class=${`bubble ${side}${isStopped ? " is-stopped" : ""}`} aria-label=${`${name || side}${seq ? `, message ${seq}` : ""}`}>
  <div class="bubble-head small soft"><span>${name || side}</span>${at && html`<${Time} at=${at} />`}<${Seq} seq=${seq} sessionId=${sessionId} /></div>
  ${children}
</article>`;

/** A stored message. A result is shown with its call, or on its own where the call is not loaded. */
function Stored({ message, answers, sessionId }) {
  if (message.is_erased) return html`<p class="note" role="note">Message ${number(message.seq)} was erased.</p>`;
  if (message.is_retracted) return html`<p class="note" role="note">Message ${number(message.seq)} was retracted. <${Seq} seq=${message.seq} sessionId=${sessionId} /></p>`;
  if (message.source === "refresh") {
    return html`<details class="note note-refreshed"><summary>Context refresh <${Seq} seq=${message.seq} sessionId=${sessionId} /></summary><${Text} value=${message.text} /></details>`;
  }
  const calls = partsOf(message, "call"), results = partsOf(message, "result"), reason = interruptionOf(message);
  if (results.length) return html`${results.map((part, index) => html`<${Tool} key=${index} call=${{ name: "result", arguments: "" }} answer=${answers.get(part.call_id)} seq=${message.seq} sessionId=${sessionId} />`)}`;
  const said = calls.length ? wordsOf(message) : message.text;
  return html`${(said || !calls.length) && html`<${Bubble} side=${message.role === "user" ? "user" : message.role === "assistant" ? "assistant" : "other"} name=${message.role} seq=${message.seq} sessionId=${sessionId} at=${message.said_at} isStopped=${reason !== null}>
      <${Markdown} value=${said || "no text"} maxHeight=${600} />
      ${reason !== null && html`<p class="small stop-reason" dir="auto">Stopped: ${reason}</p>`}
    <//>`}
    ${calls.map((part) => html`<${Tool} key=${part.id} call=${part} answer=${answers.get(part.id) || null} seq=${message.seq} sessionId=${sessionId} isStored=${true} />`)}`;
}

function Tool({ call, answer, seq, sessionId, isStored = false }) {
  const isError = answer && answer.is_error;
  const title = call.name === "result" ? "Tool result" : html`Calls <b dir="auto">${call.name}</b>`;
  const state = answer === null ? (isStored ? "no result" : "running") : isError ? "failed" : "done";
  return html`<details class=${`tool${isError ? " failed" : ""}`}>
    <summary>${title} ${state && html`<span class=${`tag ${isError ? "bad" : answer ? "" : "accent"}`}>${!answer && !isStored && html`<i class="spinner" aria-hidden="true"></i>`}${state}</span>`} <${Seq} seq=${seq || answer?.seq} sessionId=${sessionId} /></summary>
    ${call.arguments && html`<${Text} value=${call.arguments} className="code" maxHeight=${200} />`}
    ${answer && html`<${Text} value=${answer.text || "no text"} className="code" maxHeight=${260} />`}
  </details>`;
}

const Open = ({ missing, turn }) => html`<div class="note note-stopped open-turn" role="status">
  <p>${missing.length ? html`The answer was stopped. Tool results are missing: ${missing.join(", ")}.` : "The last message has no answer: the turn was stopped."}</p>
  ${turn.mayWrite && html`<button type="button" class="primary" onClick=${() => turn.answer()}>Answer</button>`}
</div>`;
