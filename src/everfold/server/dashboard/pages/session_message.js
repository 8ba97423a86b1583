// One message in full beside its digest, in which the lines about this message are marked.
import { useMemo, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { useEngineEvents } from "../lib/live.js";
import { Confirm, Failure, html, Icon, Loading, Text, Time, toast, useLoad, useWho } from "../lib/ui.js";
import { Markdown } from "../lib/markdown.js";
import { FateChip, READ, fateMeaning } from "./fates.js";

const AUTHORITIES = ["0, from outside", "1 of 4", "2 of 4", "3 of 4", "4, the system"];
const NUMBERED = /#(\d+)/g;

/** The digest that a message was in at the time of a strip; null where it is no longer stored. */
export async function findDigest(sessionId, { strip, seq, fate, compactions }) {
  if (!READ.has(fate)) return null;
  if (strip.compaction_id === null) return findShown(sessionId, seq);
  const past = compactions.filter((compaction) => compaction.ordinal <= strip.ordinal && compaction.is_committed !== false);
  const joined = past.findLast((compaction) => compaction.joined_through >= seq);
  const own = past.findLast((compaction) => compaction.first_seq <= seq && seq <= compaction.last_seq);
  const maker = joined || own;
  if (!maker) return findShown(sessionId, seq);
  const detail = await get(pathOf`/api/sessions/${sessionId}/compactions/${maker.id}`);
  const kind = joined ? "rollup" : "digest", found = (detail.digests || []).filter((digest) => digest.kind === kind);
  // Before the model's late digest the provisional one was in force.
  const isLater = compactions.some((compaction) => compaction.revises === maker.id && compaction.ordinal > strip.ordinal);
  return (isLater && found.find((digest) => digest.maker === "extractive")) || found[0] || findShown(sessionId, seq);
}

/** The digest of the current window that a message is in. */
async function findShown(sessionId, seq) {
  const { digests } = await get(pathOf`/api/sessions/${sessionId}/digests`);
  const isOfIt = (digest) => digest.first_seq <= seq && seq <= digest.last_seq;
  return digests.find((digest) => isOfIt(digest) && (digest.kind === "rollup" || digest.read_seqs.includes(seq))) || digests.find(isOfIt) || null;
}

/** A digest's text, line by line. Lines about the message `seq` are marked; message numbers are links. */
export function DigestText({ text, seq, onJump, id }) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => text.split("\n"), [text]);
  const bound = 400, shown = isWhole ? lines : lines.slice(0, bound);
  return html`<div class="digest-text" dir="auto" id=${id}>
    ${shown.map((line, index) => {
      const numbers = [...line.matchAll(NUMBERED)].map((match) => Number(match[1]));
      const isOfIt = seq !== undefined && numbers.includes(seq);
      return html`<div key=${index} class=${`digest-line${isOfIt ? " of-it" : ""}`}>
        ${isOfIt && html`<span class="unseen">about this message: </span>`}${linkNumbers(line, onJump)}
      </div>`;
    })}
    ${lines.length > bound && !isWhole && html`<button type="button" onClick=${() => setWhole(true)}>Show all ${number(lines.length)} lines</button>`}
  </div>`;
}

function linkNumbers(line, onJump) {
  if (!onJump) return line || "\u00a0";
  const parts = [];
  let at = 0;
  for (const match of line.matchAll(NUMBERED)) {
    parts.push(line.slice(at, match.index));
    const seq = Number(match[1]);
    parts.push(html`<button type="button" class="seq-link" aria-label=${`Read message ${seq}`} onClick=${() => onJump(seq)}>${match[0]}</button>`);
    at = match.index + match[0].length;
  }
  return [...parts, line.slice(at)].filter((part) => part !== "").length ? [...parts, line.slice(at)] : "\u00a0";
}

/** The panel beside the strips, or under a row of the log. `compactions` is null until they are loaded; the current
 *  window needs none. */
export function MessagePanel({ sessionId, seq, strip, fate, compactions, version = 0, isStacked = false, onJump, onClose, onErased, onSession }) {
  const message = useLoad(() => get(pathOf`/api/sessions/${sessionId}/messages/${seq}`), [sessionId, seq, version]);
  const isPast = Boolean(strip) && strip.compaction_id !== null, isWaiting = isPast && compactions === null;
  const digest = useLoad(
    () => (strip && !isWaiting ? findDigest(sessionId, { strip, seq, fate, compactions }) : Promise.resolve(null)),
    [sessionId, seq, strip && strip.compaction_id, fate, version, isWaiting],
  );
  useEngineEvents("message_erased", () => { message.reload(); digest.reload(); }, { filter: (one) => one.session_id === sessionId });
  const own = message.data?.seq === seq ? message.data : {}, isErased = own.is_erased;
  const shownFate = isErased ? "erased" : own.is_retracted && !isPast ? null : fate;
  const when = isPast ? `after compaction ${strip.ordinal}` : "now";
  return html`<section class="message-panel card card-pad" aria-label=${`Message ${seq}`}>
    <header class="panel-head">
      <div><h3>Message ${number(seq)}</h3>
        ${shownFate && html`<${FateChip} fate=${shownFate} /><span class="soft">${isErased ? "" : `${when}: `}${fateMeaning(shownFate)}</span>`}</div>
      ${onClose && html`<button type="button" class="quiet icon close" aria-label="Close the message" onClick=${onClose}><${Icon} name="close" /></button>`}
    </header>
    <div class=${`beside${isStacked ? " stacked" : ""}`}>
      <article aria-label="Original">
        <h4>Original</h4>
        ${message.problem ? html`<${Failure} problem=${message.problem} retry=${message.reload} />`
          : !message.data || message.data.seq !== seq ? html`<${Loading} />`
          : html`<${Original} sessionId=${sessionId} message=${message.data} onErased=${onErased} onSession=${onSession} />`}
      </article>
      ${fate && READ.has(fate) && !isErased && html`<article aria-label="Digest">
        <h4>Digest</h4>
        ${digest.problem ? html`<${Failure} problem=${digest.problem} retry=${digest.reload} />`
          : digest.isLoading || isWaiting ? html`<${Loading} />`
          : digest.data ? html`<${ReadBy} digest=${digest.data} seq=${seq} onJump=${onJump} />`
          : html`<p class="soft">The digest of that time was replaced by a later one and is no longer stored.</p>`}
      </article>`}
    </div>
  </section>`;
}

function ReadBy({ digest, seq, onJump }) {
  const isMarked = useMemo(() => [...digest.text.matchAll(NUMBERED)].some((match) => Number(match[1]) === seq), [digest, seq]);
  return html`<div>
    <p class="soft small">${digest.kind} · messages ${number(digest.first_seq)}–${number(digest.last_seq)}${digest.tokens ? ` · ${plural(digest.tokens, "token")}` : ""}${digest.maker ? ` · ${digest.maker}` : ""}</p>
    <p class="soft small">${isMarked ? "The lines about this message are marked." : "This digest covers the message but has no line about it."}</p>
    <${DigestText} text=${digest.text} seq=${seq} onJump=${onJump} id="digest-text" />
  </div>`;
}

/** A message verbatim, with all that is stored about it. */
export function Original({ sessionId, message, onErased, onSession }) {
  if (message.is_erased) {
    return html`<p class="soft">This message was erased${message.said_at ? html` (<${Time} at=${message.said_at} />)` : ""}. Only its number remains.</p>`;
  }
  const facts = [
    ["role", message.role], ["origin", message.origin], ["source", message.source], ["authority", AUTHORITIES[message.authority] || message.authority],
    ["state", message.is_retracted && "retracted"],
    ["tokens", message.visible_tokens !== undefined && message.visible_tokens !== message.tokens
      ? `${number(message.tokens)}, ${number(message.visible_tokens)} in the window` : number(message.tokens || 0)],
  ].filter(([, value]) => value);
  return html`<div class="original">
    <p class="inline-facts">
      ${facts.map(([name, value]) => html`<span key=${name}><span class="soft">${name}</span>${value}</span>`)}
      <span><span class="soft">said</span><${Time} at=${message.said_at} /></span>
    </p>
    <${Parts} message=${message} />
    <${ExtractLines} lines=${message.extract_lines || []} />
    <details class="wire"><summary>Stored JSON</summary><${Text} value=${JSON.stringify(message.wire, null, 2)} className="code" /></details>
    <${MessageActions} sessionId=${sessionId} seq=${message.seq} onErased=${onErased} onSession=${onSession} />
  </div>`;
}

function Parts({ message }) {
  const parts = (message.parts || []).filter((part) => part.kind !== "text");
  return html`<div class="parts">
    ${(message.text || "") !== "" ? html`<div class="said-text" id="message-text"><${message.role === "tool" ? Text : Markdown} value=${message.text} maxHeight=${420} /></div>` : !parts.length && html`<p class="soft">No text.</p>`}
    ${parts.length > 0 && html`<ul class="part-list" aria-label="Parts of the message">
      ${parts.map((part, index) => html`<li key=${index}><span class="tag">${part.kind}</span> <span dir="auto">${describePart(part)}</span></li>`)}
    </ul>`}
  </div>`;
}

function describePart(part) {
  if (part.kind === "call") return `${part.name} (${part.id})`;
  if (part.kind === "result") return `answers ${part.call_id}${part.is_error ? ", an error" : ""}${part.image_count ? `, with ${plural(part.image_count, "image")}` : ""}`;
  if (part.kind === "image") return part.url || part.media_type || "an image";
  if (part.kind === "document") return part.title || "a document";
  if (part.kind === "thinking") return part.is_signed ? "signed by its provider" : "not signed";
  return part.type || "";
}

function ExtractLines({ lines }) {
  if (!lines.length) return html`<p class="soft small">No extract lines for digests.</p>`;
  return html`<details class="extracts" open>
    <summary>Extract lines for digests (${number(lines.length)})</summary>
    <ul>${lines.map((line, index) => html`<li key=${index}>
      <span class="tag">${line.kind}</span>${line.is_standing && html`<span class="tag standing">standing</span>`}
      <q dir="auto">${line.quote}</q> <span class="soft small score" title="Importance, 0 to 100">${line.score}</span>
    </li>`)}</ul>
  </details>`;
}

function MessageActions({ sessionId, seq, onErased, onSession }) {
  const [asked, setAsked] = useState(null), who = useWho();
  if (who?.api_key.read_only) return null;
  const turn = async (verb) => {
    try {
      const { data } = await send("POST", pathOf`/api/sessions/${sessionId}/${verb}`, { seq });
      toast(verb === "branch" ? "The branch was created." : "The session was rewound. The branch is now the current session.");
      onSession?.(data);
    } catch (problem) { toast(problem.detail || problem.message, "bad"); }
  };
  const erase = async () => {
    const { data } = await send("DELETE", pathOf`/api/sessions/${sessionId}/messages/${seq}`);
    toast(`Message ${seq} was erased: ${describeCounts(data)}.`);
    onErased?.(seq, data);
  };
  return html`<p class="actions">
    <button type="button" onClick=${() => turn("branch")}>Branch from here</button>
    <button type="button" onClick=${() => turn("rewind")}>Rewind to here</button>
    <button type="button" class="danger" onClick=${() => setAsked("erase")}>Erase…</button>
    ${asked === "erase" && html`<${Confirm} title=${`Erase message ${seq}?`} danger=${true} confirmLabel="Erase"
      text="This deletes the message and everything derived from it: extract lines, memory items and search entries. Its digests are written again without it. This cannot be undone. Backups and exports keep the original."
      onConfirm=${erase} onClose=${() => setAsked(null)} />`}
  </p>`;
}

/** The counts of an answer in words, without zeros. */
export function describeCounts(counts) {
  const said = Object.entries(counts || {}).flatMap(([name, value]) => {
    const size = Array.isArray(value) ? value.length : value;
    return typeof size === "number" && size > 0 && name !== "seq" ? [`${number(size)} ${name.replace(/_(count|ids)$/, "").replaceAll("_", " ")}`] : [];
  });
  return said.length ? said.join(", ") : "nothing else was affected";
}
