// Import files of other products: each is sent as it is, and the server tells how far it is.
import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { ApiProblem, upload } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { Busy, Dialog, Failure, goTo, hrefTo, html, useAction } from "../lib/ui.js";
import { AgentPicker, UserPicker } from "./pickers.js";

const READ = "ChatGPT, Claude, Gemini and Gemini CLI, Claude Code, Codex, Open WebUI, Letta, LangChain, the OpenAI Agents SDK; OpenAI and Anthropic messages";

/** The dialog; `user` and `agent` are chosen at its start. */
export function ImportDialog({ user: firstUser = "", agent: firstAgent = "", onClose, onImported }) {
  const [user, setUser] = useState(firstUser), [agent, setAgent] = useState(firstAgent);
  const [files, setFiles] = useState([]), [now, setNow] = useState(null), [result, setResult] = useState(null);
  const work = useAction(async () => {
    const total = { sessions: 0, messages: 0, session: "", left: [] };
    for (const [index, file] of files.entries()) {
      const stored = new Map();
      const told = { file: file.name, of: `${index + 1} of ${files.length}` };
      setNow({ ...told, sent: 0 });
      await upload("/api/imports", file, { name: file.name, user, agent }, {
        onSent: (sent) => setNow({ ...told, sent }),
        onEvent: ({ event, data }) => {
          if (event === "progress") {
            stored.set(data.session_id, data.stored_count);
            setNow({ ...told, sent: 1, sessions: stored.size, messages: [...stored.values()].reduce((sum, one) => sum + one, 0), conversation: data.conversation });
          } else if (event === "left") total.left.push(data);
          else if (event === "done") { total.sessions += data.sessions_count; total.messages += data.messages_count; total.session ||= data.session_id; }
          else if (event === "problem") throw new ApiProblem(data.status, data);
        },
      });
    }
    setResult(total);
    onImported?.();
  });
  const submit = (event) => { event.preventDefault(); if (files.length) work.run(); };
  if (result) return html`<${Dialog} title="Import" onClose=${onClose}><${Result} result=${result} onClose=${onClose} /><//>`;
  return html`<${Dialog} title="Import conversations" onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <p class="small soft">Choose exports or session files of ${READ}, or zip archives of them. The format is detected.</p>
      <label>Files <input type="file" multiple accept=".json,.jsonl,.ndjson,.zip,.af,.db,.sqlite,.sqlite3" disabled=${work.isBusy} onChange=${(event) => setFiles([...event.target.files])} /></label>
      <div class="row"><${UserPicker} value=${user} allLabel="The default user" onPick=${setUser} /><${AgentPicker} value=${agent} allLabel="The default agent" onPick=${setAgent} /></div>
      ${now && work.isBusy && html`<${Progress} now=${now} />`}
      ${work.problem && html`<${Failure} problem=${work.problem} title="The import stopped" />`}
      <div class="row"><${Busy} type="submit" className="primary" isBusy=${work.isBusy} disabled=${!files.length}>Import<//></div>
    </form>
  <//>`;
}

function Progress({ now }) {
  const said = now.messages === undefined ? (now.sent < 1 ? `sending, ${Math.round(100 * now.sent)} %` : "reading")
    : `${plural(now.sessions, "session")}, ${plural(now.messages, "message")}`;
  return html`<div role="status">
    <p class="small">${now.file} (${now.of}): ${said}</p>
    <progress class="long-work" max="1" value=${now.sent < 1 ? now.sent : undefined} aria-label="Import"></progress>
    ${now.conversation && html`<p class="small soft line" dir="auto">${now.conversation}</p>`}
  </div>`;
}

function Result({ result, onClose }) {
  const open = () => { onClose(); goTo(hrefTo("sessions", result.session)); };
  return html`<div class="stack">
    <p role="status"><b>${plural(result.sessions, "session")}</b> with ${plural(result.messages, "message")} ${result.sessions === 1 ? "was" : "were"} stored.</p>
    ${result.left.length > 0 && html`<details open=${result.sessions === 0}><summary>${number(result.left.length)} ${result.left.length === 1 ? "file was" : "files were"} not stored</summary>
      <ul>${result.left.map((one) => html`<li key=${one.name} class="small"><b dir="auto">${one.name}</b><br />${one.reason}</li>`)}</ul></details>`}
    <div class="row">${result.session && html`<button type="button" class="primary" onClick=${open}>Open the first session</button>`}<button type="button" onClick=${onClose}>Close</button></div>
  </div>`;
}
