// A lost race: somebody changed an item between its being seen and being written. Both versions are shown.

import { words } from "../../lib/format.js";
import { html, Text } from "../../lib/ui.js";

/** Do a write. Where somebody was quicker give what is stored now to `onLost`, and give false. */
export async function raceFor(write, onLost) {
  try {
    await write();
    return true;
  } catch (problem) {
    if (problem.status !== 409 || !problem.current) throw problem;
    onLost(problem.current);
    return false;
  }
}

/** What is stored now beside what one had; `children` are the ways out. */
export const Race = ({ theirs, note, title, statement, children }) => html`
  <div class="card race stack tight" role="alert">
    <h3 class="warn">Somebody changed this item meanwhile</h3>
    <p class="small">${note} Theirs is revision ${theirs.revision}.</p>
    <div class="versions">
      <div><h4 class="small soft">Theirs, now stored: ${words(theirs.status)}</h4>${theirs.status === "erased" ? html`<p class="soft">It is deleted.</p>` : html`<${Text} value=${theirs.statement} maxHeight=${160} />`}</div>
      <div><h4 class="small soft">${title}</h4><${Text} value=${statement} maxHeight=${160} /></div>
    </div>
    ${children && html`<div class="actions">${children}</div>`}
  </div>`;
