// What became of a message, in words and as a colour. The fates are those of `everfold.core.strips`; `--<fate>` is the
// colour of each in style/tokens.css.
import { html } from "../lib/ui.js";

export const FATES = {
  fixed: ["system", "part of the system prompt, always shown"],
  head: ["head", "the first user message, always shown"],
  kept: ["kept", "shown word for word"],
  running: ["running", "the user message of the running turn, shown"],
  refresh: ["context refresh", "what the context sources said last, shown"],
  tail: ["tail", "newest messages, shown as they are"],
  note: ["continuity note", "folded: a digest of quotes has read it, a better one is on its way"],
  fine: ["fine digest", "folded: the digest of its own range has read it"],
  coarse: ["coarse digest", "folded earlier: the digest of all old ranges has read it"],
  quote: ["standing quote", "folded, and what binds is quoted in the standing block"],
  left: ["left", "was kept until this compaction; now the coarse digest has read it"],
  replaced: ["replaced", "a context refresh; a newer one has taken its place"],
  open: ["open step", "waits for tool results"],
  erased: ["erased", "erased on request; only its number is left"],
};

/** Fates whose messages must be seen in a strip however thin they are: what is shown or quoted word for word. */
export const THIN = new Set(["head", "kept", "running", "refresh", "quote", "left", "erased"]);

/** Fates of messages that the window does not show, but a digest that is shown has read. */
export const READ = new Set(["note", "fine", "coarse", "quote", "left"]);

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
