// Chat: a playground with an agent. Answers stream in beside the window that the model sees.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { connection, get, pathOf, send } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { isWithdrawal, useEngineEvents, useLooks, WITHDRAWN } from "../lib/live.js";
import { Empty, Failure, goTo, hrefTo, html, Id, Loading, toast, useLoad, useWho } from "../lib/ui.js";
import { Entry } from "./chat_entries.js";
import { useTurn } from "./chat_turn.js";
import { AgentPicker, UserPicker } from "./pickers.js";
import { sessionHref } from "./session.js";
import { WindowInspector } from "./session_window.js";

const PAGE = 60;

export default function Chat({ path, params }) {
  const who = useWho(), scope = who?.api_key.scope || "";
  const own = scope.startsWith("user:") ? scope.slice(5) : who?.default_user_id || "default";
  const agent = path[0] || (scope.startsWith("agent:") ? scope.slice(6) : "default"), user = params.user || own, model = params.model || "";
  const turnTo = (change) => {
    const next = { agent, user, model, ...change };
    goTo(hrefTo("chat", next.agent || "default", { user: next.user === own ? "" : next.user, model: next.model }), { replace: true });
  };
  return html`<${Talk} key=${`${agent}|${user}`} agent=${agent} user=${user} model=${model} turnTo=${turnTo} />`;
}

/** The current session of a user and an agent; null where there is none yet. */
async function findCurrent(user, agent) {
  let cursor;
  do {
    const page = await get("/api/sessions", { user, agent, limit: 200, cursor });
    const found = page.sessions.find((session) => session.is_current);
    if (found) return found;
    cursor = page.next_cursor;
  } while (cursor);
  return null;
}

async function loadTalk(user, agent) {
  const session = await findCurrent(user, agent);
  if (!session) return { session: null, messages: [], lastSeq: 0 };
  const page = await readLast(session.id, Infinity);
  return { session, ...page };
}

/** The newest messages up to one, with the number of the newest of all. */
async function readLast(id, before) {
  let last = before - 1;
  if (before === Infinity) last = (await get(pathOf`/api/sessions/${id}`)).messages_count ?? 0;
  if (last < 1) return { messages: [], lastSeq: 0 };
  const page = await get(pathOf`/api/sessions/${id}/messages`, { first: Math.max(1, last - PAGE + 1), last });
  return { messages: page.messages, lastSeq: page.last_seq ?? last };
}

function Talk({ agent, user, model, turnTo }) {
  const key = useWho()?.api_key, isAdmin = key?.scope === "admin", mayWrite = !key?.read_only; // only an admin chooses the model
  const talk = useLoad(() => loadTalk(user, agent), [user, agent]);
  const [hasWindow, showWindow] = useState(innerWidth > 1000);
  const [tick, setTick] = useState(0), [withdrawn, setWithdrawn] = useState(0);
  const session = talk.data?.session || null;
  const turn = useTurn({ mayWrite, agent, user, model, session, onStored: () => setTick((old) => old + 1), onEnd: () => talk.reload() });
  useLayoutEffect(() => connection.onBack(() => turn.settle()), []);
  const reload = () => { talk.reload(); setTick((old) => old + 1); };
  const look = async () => { // another client may use the same session
    if (turn.isOn || !session) return;
    const found = await get(pathOf`/api/sessions/${session.id}`).catch((problem) => (problem.status === 404 ? {} : null));
    if (found && (found.messages_count !== talk.data.lastSeq || !found.is_current)) reload();
  };
  const forget = () => { turn.forget(); setWithdrawn((old) => old + 1); reload(); };
  useEngineEvents(["messages_appended", "session_switched"], look, { filter: (one) => [one.session_id, one.previous_id].includes(session?.id) });
  useEngineEvents(WITHDRAWN, forget, { filter: (one) => isWithdrawal(one) && one.session_id === session?.id });
  useLooks(look);
  const begin = async () => {
    if (turn.isOn) return;
    try {
      await send("POST", "/api/sessions", { user, agent, new: true });
      turn.clear();
      reload();
      toast("A new session was started. The old one is unchanged.");
    } catch (problem) { toast(problem.detail, "bad"); }
  };
  return html`<div class=${`chat-page${hasWindow ? " with-window" : ""}`}>
    <section class="talk" aria-label="Chat">
      <header class="chat-head">
        <div class="filters">
          <${UserPicker} value=${user} onPick=${(id) => id && turnTo({ user: id })} />
          <${AgentPicker} value=${agent} onPick=${(name) => turnTo({ agent: name })} />
          ${isAdmin && html`<${ModelField} value=${model} onPick=${(name) => turnTo({ model: name })} />`}
        </div>
        <div class="actions">
          ${session && html`<span class="soft small">Session <a href=${sessionHref(session.id)}>open</a> <${Id} value=${session.id} /></span>`}
          <span class="grow"></span>
          ${mayWrite && html`<button type="button" disabled=${turn.isOn || !session} onClick=${begin}>New session</button>`}
          <button type="button" aria-expanded=${String(hasWindow)} title="What the model sees" class=${hasWindow ? "is-on" : ""} onClick=${() => showWindow(!hasWindow)}>Window</button>
        </div>
      </header>
      ${talk.problem && !talk.data ? html`<${Failure} problem=${talk.problem} retry=${talk.reload} />`
        : !talk.data ? html`<div class="card-pad"><${Loading} /></div>`
        : html`<${Conversation} talk=${talk.data} turn=${turn} agent=${agent} withdrawn=${withdrawn} />`}
      ${mayWrite ? html`<${Composer} turn=${turn} isReady=${talk.data !== null} />` : html`<p class="composer soft">This API key is read-only. It cannot send messages.</p>`}
    </section>
    ${hasWindow && html`<aside class="beside-window" aria-label="What the model sees">
      <h2>What the model sees</h2>
      ${session ? html`<${WindowInspector} key=${session.id} sessionId=${session.id} userId=${session.user_id} isNarrow=${true} tick=${tick} onJump=${(seq) => goTo(sessionHref(session.id, "log", seq))} />`
        : html`<${Empty} title="No window yet" hint="The window appears with the first message." />`}
    </aside>`}
  </div>`;
}

function ModelField({ value, onPick }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return html`<form class="picker" onSubmit=${(event) => { event.preventDefault(); onPick(event.currentTarget.elements[0].value.trim()); }}>
    <label>Model<input value=${text} spellcheck=${false} autocomplete="off" placeholder="the agent's own" title="For example openai:gpt-5-mini, ollama:llama3.2 or script:FILE. Empty: the agent's own model"
      onInput=${(event) => setText(event.target.value)} onChange=${(event) => onPick(event.target.value.trim())} /></label>
  </form>`;
}

function Conversation({ talk, turn, agent, withdrawn }) {
  const [earlier, setEarlier] = useState([]), [isLoading, setLoading] = useState(false);
  const box = useRef(), isAtEnd = useRef(true);
  const id = talk.session?.id;
  useEffect(() => setEarlier([]), [id, withdrawn]);
  const stored = [...earlier, ...talk.messages];
  const first = stored.length ? stored[0].seq : 1;
  const entries = turn.join(stored);
  useLayoutEffect(() => {
    const node = box.current;
    if (node && isAtEnd.current) node.scrollTop = node.scrollHeight;
  });
  const more = async () => {
    setLoading(true);
    const node = box.current, fromEnd = node.scrollHeight - node.scrollTop;
    try {
      const page = await readLast(id, first);
      isAtEnd.current = false;
      setEarlier((old) => [...page.messages, ...old]);
      requestAnimationFrame(() => requestAnimationFrame(() => { node.scrollTop = node.scrollHeight - fromEnd; }));
    } catch (problem) { toast(problem.detail, "bad"); } finally { setLoading(false); }
  };
  return html`<div class="flow" role="log" aria-label="Conversation" aria-busy=${String(turn.isOn)} tabindex="0" ref=${box}
      onScroll=${(event) => { const node = event.currentTarget; isAtEnd.current = node.scrollHeight - node.scrollTop - node.clientHeight < 60; }}>
    ${first > 1 && html`<p class="earlier"><button type="button" disabled=${isLoading} onClick=${more}>${isLoading ? "Loading…" : `Show earlier messages (${number(first - 1)})`}</button></p>`}
    ${!entries.length && html`<${Empty} title=${`Chat with ${agent}`} hint="Messages are stored as they are sent. The model's window is shown beside the chat." />`}
    ${entries.map((entry) => html`<${Entry} key=${entry.key} entry=${entry} sessionId=${id} turn=${turn} />`)}
    ${turn.isOn && html`<p class="soft small at-work" role="status"><i class="spinner" aria-hidden="true"></i> ${turn.doing}</p>`}
  </div>`;
}

function Composer({ turn, isReady }) {
  const [text, setText] = useState("");
  const area = useRef();
  const say = async (event) => {
    event?.preventDefault();
    if (turn.isOn || !text.trim()) return;
    const said = text;
    setText("");
    await turn.say(said);
    area.current?.focus();
  };
  return html`<form class="composer" onSubmit=${say}>
    <label class="unseen" for="say">Message</label>
    <textarea id="say" name="message" ref=${area} rows="2" dir="auto" data-search placeholder="Write a message …" title="Enter sends, Shift+Enter adds a line, Esc stops the answer" value=${text} disabled=${!isReady}
      onInput=${(event) => setText(event.target.value)}
      onKeyDown=${(event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) say(event);
        else if (event.key === "Escape" && turn.isOn) { event.preventDefault(); turn.stop(); }
      }}></textarea>
    ${turn.isOn ? html`<button type="button" class="danger" onClick=${turn.stop} title="Esc">Stop</button>`
      : html`<button type="submit" class="primary" disabled=${!isReady || !text.trim()}>Send</button>`}
    ${text.length > 20000 && html`<p class="soft small">${plural(text.length, "character")}</p>`}
  </form>`;
}
