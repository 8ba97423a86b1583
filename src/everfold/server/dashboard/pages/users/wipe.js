// Deleting the whole memory of a user, or the notes of one agent about its work with them.

import { useState } from "../../vendor/htm-preact-3.1.1.module.js";
import { makeSignal, pathOf, send } from "../../lib/api.js";
import { number, words } from "../../lib/format.js";
import { Confirm, Dialog, html, KEEP } from "../../lib/ui.js";

/** Signals that a user's memory was changed outside the part of the page that shows it. */
export const memoryChanged = makeSignal();

/** Asks for the name or the id, deletes, and shows the counts. */
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
    <${Confirm} title="Delete all memory of this user?" typed=${[user.name, user.id]} confirmLabel="Delete all" onConfirm=${wipe} onClose=${onClose}
      text="This deletes every topic, item, extraction and dream of this user, for all agents. Messages stay, unless you check the box below. This cannot be undone; export the memory first to keep a copy. Type the user's name or id to confirm.">
      <label class="check"><input type="checkbox" checked=${hasTranscripts} onChange=${event => setTranscripts(event.target.checked)} /> <span>Also erase all sessions of this user</span></label>
    <//>`;
}

/** Deletes what an agent noted about its work with a user. */
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
    text=${`This deletes all items and topics that ${agent} noted about its work with this user. Memory about the user stays.`} />`;
}

const flatten = (counts, prefix = "") => Object.entries(counts).flatMap(([name, value]) =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? flatten(value, `${prefix}${name} `) : [[`${prefix}${name}`, value]]);

const Counts = ({ title, counts, onClose }) => html`
  <${Dialog} title=${title} onClose=${onClose} size="narrow">
    <dl class="facts counts">${flatten(counts).filter(([, value]) => typeof value === "number").map(([name, value]) => html`
      <dt key=${name}>${words(name)}</dt><dd data-count=${name}>${number(value)}</dd>`)}</dl>
    <div class="actions end"><button type="button" class="primary" autofocus onClick=${onClose}>Done</button></div>
  <//>`;
