// A conflict: an item changed between reading and writing it. Both versions are shown.

import { words } from "../../lib/format.js";
import { html, Text } from "../../lib/ui.js";

/** Do a write; gives true. After a conflict, call `onLost` with the stored version and give false. */
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

/** The stored version beside one's own; `children` are the buttons. */
export const Race = ({ theirs, note, title, statement, children }) => html`
  <div class="card race stack tight" role="alert">
    <h3 class="warn">This item was changed in the meantime</h3>
    <p class="small">${note} The stored version is revision ${theirs.revision}.</p>
    <div class="versions">
      <div><h4 class="small soft">Stored now: ${words(theirs.status)}</h4>${theirs.status === "erased" ? html`<p class="soft">Deleted.</p>` : html`<${Text} value=${theirs.statement} maxHeight=${160} />`}</div>
      <div><h4 class="small soft">${title}</h4><${Text} value=${statement} maxHeight=${160} /></div>
    </div>
    ${children && html`<div class="actions">${children}</div>`}
  </div>`;
