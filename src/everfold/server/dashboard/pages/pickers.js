// Pickers of a user and of an agent, for the pages Sessions and Chat.
import { useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../lib/api.js";
import { html } from "../lib/ui.js";

const TYPED_MS = 180;
const ROWS = 12;
let countOfPickers = 0;

/** A combobox over all users, searched while typing. `value` is a user's id, empty for all. */
export function UserPicker({ value, onPick, allLabel = null }) {
  const [text, setText] = useState(""), [users, setUsers] = useState([]), [at, setAt] = useState(-1);
  const [isOpen, setOpen] = useState(false), [problem, setProblem] = useState(null);
  const [name] = useState(() => `users-${++countOfPickers}`);
  const timer = useRef(0), asked = useRef(0);

  const look = async (question) => {
    const mine = ++asked.current;
    try {
      const page = await get("/api/users", { q: question || undefined, limit: ROWS });
      if (mine === asked.current) { setUsers(page.users); setProblem(null); setAt(-1); }
    } catch (failed) { if (mine === asked.current) setProblem(failed); }
  };
  useEffect(() => {
    if (!value) { setText(""); return; }
    get(pathOf`/api/users/${value}`).then((user) => setText(user.name || user.id), () => setText(value));
  }, [value]);
  const pick = (user) => { setOpen(false); setText(user ? user.name || user.id : ""); onPick(user ? user.id : ""); };
  const choices = allLabel ? [null, ...users] : users;
  const onKeyDown = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) { setOpen(true); look(""); return; }
      setAt((choices.length + at + (event.key === "ArrowDown" ? 1 : -1)) % Math.max(choices.length, 1));
    } else if (event.key === "Enter" && isOpen) {
      event.preventDefault();
      const chosen = choices[at >= 0 ? at : allLabel && !text.trim() ? 0 : allLabel ? 1 : 0];
      if (chosen !== undefined) pick(chosen);
    } else if (event.key === "Escape" && isOpen) { event.stopPropagation(); setOpen(false); }
  };
  return html`<div class="picker">
    <label>User
      <input role="combobox" autocomplete="off" dir="auto" placeholder=${allLabel || "a name"} value=${text}
        aria-expanded=${isOpen ? "true" : "false"} aria-controls=${name} aria-autocomplete="list" aria-activedescendant=${isOpen && at >= 0 ? `${name}-${at}` : undefined}
        onFocus=${(event) => { event.target.select(); }} onClick=${() => { setOpen(true); look(""); }}
        onInput=${(event) => { const typed = event.target.value; setText(typed); setOpen(true); clearTimeout(timer.current); timer.current = setTimeout(() => look(typed.trim()), TYPED_MS); }}
        onBlur=${() => setTimeout(() => setOpen(false), 150)} onKeyDown=${onKeyDown} />
    </label>
    ${isOpen && html`<ul class="suggestions" role="listbox" id=${name} aria-label="Users">
      ${problem ? html`<li class="bad" role="option" aria-selected="false">${problem.detail || problem.message}</li>` : ""}
      ${choices.map((user, index) => html`<li key=${user ? user.id : "all"} id=${`${name}-${index}`} role="option" aria-selected=${index === at ? "true" : "false"}
        onMouseDown=${(event) => { event.preventDefault(); pick(user); }}>
        <span dir="auto">${user ? user.name || user.id : allLabel}</span>${user && user.is_default ? html` <span class="tag">default</span>` : ""}
      </li>`)}
      ${!users.length && !problem ? html`<li class="soft" role="option" aria-selected="false">No matching user</li>` : ""}
    </ul>`}
  </div>`;
}

/** A select of all agents, or a text field where the API key may not list them. */
export function AgentPicker({ value, onPick, allLabel = null }) {
  const [agents, setAgents] = useState(null);
  useEffect(() => { get("/api/agents").then((page) => setAgents(page.agents), () => setAgents([])); }, []);
  const names = (agents || []).map((agent) => agent.id || agent.name);
  if (agents !== null && !names.length) {
    return html`<div class="picker"><label>Agent <input value=${value} placeholder=${allLabel || "default"} onChange=${(event) => onPick(event.target.value.trim())} /></label></div>`;
  }
  return html`<div class="picker"><label>Agent
    <select value=${value} onChange=${(event) => onPick(event.target.value)}>
      ${allLabel && html`<option value="">${allLabel}</option>`}
      ${value && !names.includes(value) && html`<option value=${value}>${value}</option>`}
      ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select>
  </label></div>`;
}
