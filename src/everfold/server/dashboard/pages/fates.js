// What became of a message, in words and as a colour. The fates are those of `everfold.core.compaction.strips`; `--<fate>` is
// the colour of each in style/tokens.css.
import { html } from "../lib/ui.js";

export const FATES = {
  fixed: ["system", "part of the system prompt, always shown"],
  head: ["head", "the first user message, always shown"],
  kept: ["kept", "kept verbatim"],
  running: ["running", "the user message of the running turn, shown"],
  refresh: ["context refresh", "the latest answers of the context sources, shown"],
  tail: ["tail", "newest messages, kept verbatim"],
  note: ["continuity note", "folded into a provisional digest of quotes until the model's digest is ready"],
  digest: ["digest", "folded into the digest of its range"],
  rollup: ["rollup", "folded into the rollup of all older ranges"],
  quote: ["standing instructions", "folded, and quoted in the standing instructions"],
  folded_later: ["folded later", "was kept verbatim until this compaction; now in the rollup"],
  replaced: ["replaced", "a context refresh that a newer one has replaced"],
  open: ["open step", "waits for tool results"],
  erased: ["erased", "erased on request; only its number remains"],
};

/** Fates whose messages stay visible in a strip however thin they are: those kept or quoted verbatim. */
export const THIN = new Set(["head", "kept", "running", "refresh", "quote", "folded_later", "erased"]);

/** Fates of messages that are not in the window themselves but in a digest there. */
export const READ = new Set(["note", "digest", "rollup", "quote", "folded_later"]);

export const fateName = (fate) => (FATES[fate] || [fate])[0];
export const fateMeaning = (fate) => (FATES[fate] || ["", ""])[1];

export const Swatch = ({ fate }) => html`<i class=${`swatch is-${fate}`} aria-hidden="true"></i>`;

export const FateChip = ({ fate }) =>
  html`<span class="fate-chip" title=${fateMeaning(fate)}><${Swatch} fate=${fate} />${fateName(fate)}</span>`;

/** The legend of the fates that are in use, each with its meaning in words. */
export function Legend({ fates }) {
  return html`<details class="legend-box">
    <summary>
      <span class="unseen">What the colours mean: </span>
      <ul class="legend">${fates.map((fate) => html`<li key=${fate}><${FateChip} fate=${fate} /></li>`)}</ul>
      <span class="legend-more">in words</span>
    </summary>
    <dl class="legend-words">
      ${fates.map(
        (fate) => html`<div key=${fate}><dt><${FateChip} fate=${fate} /></dt><dd>${fateMeaning(fate)}</dd></div>`,
      )}
    </dl>
  </details>`;
}
