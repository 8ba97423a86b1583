// A conflict: what is written has changed since it was read. Both versions are shown.

import { words } from "../../lib/format.js";
import { html, Text } from "../../lib/ui.js";

/** Do a write; gives true. After a conflict, call `onLost` with the stored version and give false. */
export async function raceFor(write, onLost) {
  try {
    await write();
    return true;
  } catch (problem) {
    if (problem.status !== 409 || !problem.current) throw problem;
    await onLost(problem.current);
    return false;
  }
}

/** What is stored beside one's own version; `what` was changed, `children` are the buttons. */
export const Versions = ({ what, note, stored, theirs, title, own, children }) => html`
  <div class="card race stack tight" role="alert">
    <h3 class="warn">This ${what} was changed in the meantime</h3>
    <p class="small">${note}</p>
    <div class="versions">
      <div><h4 class="small soft">${stored}</h4>${theirs === null ? html`<p class="soft">Deleted.</p>` : html`<${Text} value=${theirs} maxHeight=${160} />`}</div>
      <div><h4 class="small soft">${title}</h4><${Text} value=${own} maxHeight=${160} /></div>
    </div>
    ${children && html`<div class="actions">${children}</div>`}
  </div>`;

/** The stored version of an item beside one's own. */
export const Race = ({ theirs, note, title, statement, children }) => html`
  <${Versions} what="item" note=${`${note} The stored version is revision ${theirs.revision}.`} stored=${`Stored now: ${words(theirs.status)}`}
    theirs=${theirs.status === "erased" ? null : theirs.statement} title=${title} own=${statement}>${children}<//>`;
