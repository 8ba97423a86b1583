// A session that nothing has folded yet, as it would fold at a small limit.
import { get, pathOf } from "../lib/api.js";
import { number } from "../lib/format.js";
import { html, useLoad } from "../lib/ui.js";
import { PREVIEW } from "./session_strips.js";

const LIMITS_TOKENS = [8000, 4000, 2000]; // the first that folds; a short session needs a lower one
const NONE = [];

/** The strip of the preview, where a session has no compaction: {strips, limitTokens, problem}. */
export function usePreview(sessionId, strips, limitTokens) {
  const isWanted = Boolean(strips) && strips.length === 1 && strips[0].last_seq > 0 && limitTokens > LIMITS_TOKENS[0];
  const load = useLoad(async ({ signal }) => (isWanted ? preview(sessionId, signal, LIMITS_TOKENS) : null), [sessionId, isWanted, isWanted && strips[0].last_seq]);
  return load.data ?? { strips: NONE, limitTokens: null, problem: isWanted ? load.problem : null };
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
  if (preview.problem) return html`<p class="notice">No preview: ${preview.problem.detail}</p>`;
  if (!preview.strips.length) return null;
  return html`<p class="notice" role="status"><b>Preview.</b> Nothing is folded yet: the context limit is ${number(limitTokens)} tokens. ${hasFolded(preview.strips[0])
    ? `The row “preview” shows how the session would fold at ${number(preview.limitTokens)} tokens. Nothing was changed.`
    : `The session is short: at ${number(preview.limitTokens)} tokens it would not fold either.`}</p>`;
}
