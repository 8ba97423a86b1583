// A session that nothing has folded yet, as it would fold at a small limit.
import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { html, useLoad } from "../lib/ui.js";
import { PREVIEW } from "./session_strips.js";

const LIMITS_TOKENS = [8000, 4000, 2000]; // the first that folds; a short session needs a lower one
const MOST_UNASKED = 5000; // a preview of a longer session takes seconds of the server's processor, so it is asked for
const SHOWN_AFTER = 500;
const PER_SEC = 3000; // messages; own measurement of 20,000 long messages: 4,400 on a quiet machine
const NONE = [];

/** The strip of the preview, where a session has no compaction: {strips, limitTokens, problem, waiting, ask}. */
export function usePreview(sessionId, strips, limitTokens) {
  const [askedAt, setAskedAt] = useState(0);
  const count = strips && strips.length === 1 ? strips[0].last_seq : 0;
  const isPossible = count > 0 && limitTokens > LIMITS_TOKENS[0], isLarge = count > MOST_UNASKED;
  const isWanted = isPossible && (!isLarge || askedAt > 0);
  const load = useLoad(async ({ signal }) => (isWanted ? preview(sessionId, signal, LIMITS_TOKENS) : null), [sessionId, isWanted, isWanted && (isLarge ? askedAt : count)]);
  const waiting = isPossible && !isWanted ? "ask" : isWanted && load.isLoading && !load.data ? "load" : null;
  return { ...(load.data ?? { strips: NONE, limitTokens: null, problem: isWanted ? load.problem : null }), waiting, count, ask: () => setAskedAt(count) };
}

async function preview(sessionId, signal, [limit, ...lower]) {
  try {
    const { strips } = await get(pathOf`/api/sessions/${sessionId}/strips`, { preview: limit }, { signal });
    if (lower.length && !hasFolded(strips[0])) return preview(sessionId, signal, lower);
    return { strips: strips.map((strip) => ({ ...strip, compaction_id: PREVIEW, limit_tokens: limit })), limitTokens: limit, problem: null };
  } catch (problem) {
    const smallest = problem.ids?.smallest_limit_tokens;
    if (smallest > limit) return preview(sessionId, signal, [smallest]);
    throw problem;
  }
}

const hasFolded = (strip) => strip.runs.some(([fate]) => fate === "digest" || fate === "rollup");

/** Says what the preview is. */
export function PreviewNotice({ preview, limitTokens }) {
  if (preview.waiting === "ask") return html`<p class="notice">Nothing is folded yet: the context limit is ${number(limitTokens)} tokens.
    <button type="button" onClick=${preview.ask}>Preview at ${number(LIMITS_TOKENS[0])} tokens</button> <span class="soft">reads all ${number(preview.count)} messages, about ${plural(Math.ceil(preview.count / PER_SEC), "second")}</span></p>`;
  if (preview.waiting === "load") return preview.count > SHOWN_AFTER && html`<p class="notice" role="status"><b>Preview.</b> Reading ${number(preview.count)} messages to show how they would fold at ${number(LIMITS_TOKENS[0])} tokens…</p>`;
  if (preview.problem) return html`<p class="notice">No preview: ${preview.problem.detail}</p>`;
  if (!preview.strips.length) return null;
  return html`<p class="notice" role="status"><b>Preview.</b> Nothing is folded yet: the context limit is ${number(limitTokens)} tokens. ${hasFolded(preview.strips[0])
    ? `The row “preview” shows how the session would fold at ${number(preview.limitTokens)} tokens. Nothing was changed.`
    : `The session is short: even at ${number(preview.limitTokens)} tokens, it would not fold.`}</p>`;
}
