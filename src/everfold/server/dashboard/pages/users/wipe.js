// Deleting all that is known of a user, or what one agent noted about its work with them.

import { useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { makeSignal, pathOf, send } from "../../lib/api.js";
import { number, words } from "../../lib/format.js";
import { Confirm, Dialog, html, KEEP } from "../../lib/ui.js";

/** Told when a user's memory has been changed from outside the part that shows it. */
export const memoryChanged = makeSignal();

/** Asks for the name or the id, deletes, and shows what went. */
export function WipeDialog({ user, onClose }) {
  const [counts, setCounts] = useState(null);
  const [hasTranscripts, setTranscripts] = useState(false);
  const wipe = async () => {
    const params = hasTranscripts ? { transcripts: true } : null;
    const answer = await send("DELETE", pathOf`/api/users/${user.id}/memory`, null, { params });
    memoryChanged.tell();
    setCounts(answer.data);
    return KEEP;
  };
  if (counts) return html`<${Counts} title="Deleted" counts=${counts} onClose=${onClose} />`;
  return html`
    <${Confirm} title="Delete all that is known of this user?" typed=${[user.name, user.id]} confirmLabel="Delete all" onConfirm=${wipe} onClose=${onClose}
      text="Every topic, item, extraction and dream goes, of every agent. What was said stays unless you choose below. This cannot be taken back; export first if in doubt. Type the user's name or id.">
      <label class="check"><input type="checkbox" checked=${hasTranscripts} onChange=${event => setTranscripts(event.target.checked)} /> <span>Erase what was said too: all sessions of this user</span></label>
    <//>`;
}

/** What an agent noted about its work with a user goes. */
export function WipeAgentDialog({ user, agent, onClose }) {
  const [counts, setCounts] = useState(null);
  const wipe = async () => {
    const answer = await send("DELETE", pathOf`/api/users/${user.id}/agents/${agent}/memory`);
    memoryChanged.tell();
    setCounts(answer.data);
    return KEEP;
  };
  if (counts) return html`<${Counts} title="Deleted" counts=${counts} onClose=${onClose} />`;
  return html`<${Confirm} title="Delete what this agent noted?" confirmLabel="Delete its notes" onConfirm=${wipe} onClose=${onClose}
    text=${`All items and topics of the tier “agent” that ${agent} noted about its work with this user go. Who the user is stays.`} />`;
}

const flatten = (counts, prefix = "") => Object.entries(counts).flatMap(([name, value]) =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? flatten(value, `${prefix}${name} `) : [[`${prefix}${name}`, value]]);

const Counts = ({ title, counts, onClose }) => html`
  <${Dialog} title=${title} onClose=${onClose} size="narrow">
    <dl class="facts counts">${flatten(counts).filter(([, value]) => typeof value === "number").map(([name, value]) => html`
      <dt key=${name}>${words(name)}</dt><dd data-count=${name}>${number(value)}</dd>`)}</dl>
    <div class="actions end"><button type="button" class="primary" autofocus onClick=${onClose}>Done</button></div>
  <//>`;
