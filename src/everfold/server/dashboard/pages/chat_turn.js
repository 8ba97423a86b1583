// A turn while it streams: entries after the stored messages, until the stored messages replace them.
import { useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { pathOf, send, streamPost } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { toast } from "../lib/ui.js";

/** Why an answer was stopped, from the stored message. */
export const interruptionOf = (message) => {
  const reason = message.wire && message.wire.interrupted;
  return typeof reason === "string" ? reason : null;
};

/** Stored messages as entries: a tool's result is part of its call's entry where both are loaded. */
function listStored(messages) {
  const called = new Set(messages.flatMap((message) => partsOf(message, "call").map((part) => part.id)));
  const answers = new Map(messages.flatMap((message) => partsOf(message, "result").map((part) => [part.call_id, { ...part, text: answerOf(message, part), seq: message.seq }])));
  const isApart = (message) => !partsOf(message, "result").length || partsOf(message, "result").some((part) => !called.has(part.call_id));
  const entries = messages.filter(isApart).map((message) => ({ kind: "message", key: `m${message.seq}`, message, answers }));
  const open = findOpen(messages, answers);
  return open ? [...entries, open] : entries;
}

export const partsOf = (message, kind) => (message.parts || []).filter((part) => part.kind === kind);

/** The text of a message, without its calls and results. */
export function wordsOf(message) {
  const content = message.wire?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return partsOf(message, "call").length ? "" : message.text;
  return content.filter((part) => typeof part?.text === "string" && part.type !== "thinking").map((part) => part.text).join("\n");
}

/** The result of one tool, also from a message with several results. */
function answerOf(message, part) {
  const block = Array.isArray(message.wire?.content) ? message.wire.content.find((one) => one?.tool_use_id === part.call_id) : null;
  if (!block) return message.text;
  return typeof block.content === "string" ? block.content : (block.content || []).map((one) => one?.text ?? "").join("\n");
}

/** The open end of a log: a user message without an answer, or tools without results. */
function findOpen(messages, answers) {
  const said = messages.filter((message) => ["user", "assistant", "result", "late"].includes(message.kind));
  const last = said[said.length - 1];
  if (!last || last.is_erased) return null;
  if (last.role === "assistant" && !partsOf(last, "call").length) return null;
  const missing = last.role === "assistant" ? partsOf(last, "call").filter((part) => !answers.has(part.id)).map((part) => part.name) : [];
  return { kind: "open", key: "open", missing };
}

/**
 * The turn in progress in a chat.
 *
 * isOn: whether the turn goes on, also before the next frame. join(messages): stored and streamed messages as entries
 * in their order. say(text), answer(), stop(), settle() (the connection is back: drop streamed entries), forget() (what is
 * stored may be gone: drop what was streamed of it), clear().
 */
export function useTurn({ mayWrite, agent, user, model, session, onStored, onEnd }) {
  const [, redraw] = useState(0);
  const turn = useRef({ entries: [], isOn: false, doing: "", abort: null, nextKey: 0, said: "", sessionId: null });
  const it = turn.current, frame = useRef(0);
  const show = () => { cancelAnimationFrame(frame.current); frame.current = requestAnimationFrame(() => redraw((old) => old + 1)); };
  const add = (entry) => { it.entries.push({ key: `t${++it.nextKey}`, ...entry }); show(); };
  const latest = useRef({});
  latest.current = { session, onStored, onEnd };
  useEffect(() => () => { cancelAnimationFrame(frame.current); it.abort?.abort(); }, []);

  const hear = ({ event, data }) => {
    if (data.session_id) it.sessionId = data.session_id;
    const draft = it.entries.findLast((entry) => entry.kind === "draft");
    if (event === "text_delta") {
      it.doing = "Answering";
      if (draft) draft.text += data.text; else add({ kind: "draft", text: data.text });
      show();
    } else if (event === "said") {
      if (data.role === "user") {
        const pending = it.entries.find((entry) => entry.kind === "pending");
        if (pending) pending.seq = data.seq;
        it.isStored = true;
        it.doing = "Thinking";
      } else if (draft) Object.assign(draft, { kind: "said", seq: data.seq });
      latest.current.onStored();
      show();
    } else if (event === "tool_called") {
      it.doing = `Waiting for ${data.name}`;
      add({ kind: "tool", call: data, answer: null });
    } else if (event === "tool_answered") {
      const called = it.entries.find((entry) => entry.kind === "tool" && entry.call.call_id === data.call_id);
      if (called) called.answer = data; else add({ kind: "tool", call: data, answer: data });
      it.doing = "Thinking";
      latest.current.onStored();
      show();
    } else if (event === "problem") {
      it.entries = it.entries.filter((entry) => !(entry.event === "stopped" && entry.data.reason === data.detail)); // both have the same reason
      add({ kind: "problem", problem: data });
    }
    else if (event === "done") it.isDone = true;
    else {
      if (event === "refreshing") it.doing = "Querying the context sources";
      if (event === "stopped" && draft) Object.assign(draft, { kind: "said", seq: data.seq, isStopped: true });
      add({ kind: "note", event, data });
      if (event === "compacted" || event === "refreshed") latest.current.onStored();
    }
  };
  const run = async (body) => {
    Object.assign(it, { isOn: true, isStored: false, isDone: false, doing: "Thinking", abort: new AbortController() });
    it.entries = it.entries.filter((entry) => entry.kind === "pending");
    show();
    let problem = null;
    try {
      await streamPost(pathOf`/api/agents/${agent}/chat`, { user, ...body, ...(model ? { model } : {}), ...(latest.current.session ? { session_id: latest.current.session.id } : {}) },
        { onEvent: hear, signal: it.abort.signal });
    } catch (failed) { if (failed.name !== "AbortError") problem = failed; }
    it.isOn = false;
    if (problem && problem.status === 0) add({ kind: "lost" });
    else if (problem) add({ kind: "problem", problem });
    await latest.current.onEnd();
    latest.current.onStored();
    show();
  };
  const say = (text) => {
    it.said = text;
    it.entries = [];
    add({ kind: "pending", text });
    return run({ message: text });
  };
  const answer = () => { it.entries = []; return run({ message: null }); };
  const stop = async () => {
    const id = it.sessionId || latest.current.session?.id;
    if (!id) { it.abort?.abort(); return; }
    try { await send("POST", pathOf`/api/agents/${agent}/chat/stop`, { session_id: id }); } catch (problem) { toast(problem.detail, "bad"); }
  };
  const again = () => (it.isStored ? answer() : say(it.said));
  /** Stored messages first, then the streamed entries that are not among them. */
  const join = (messages) => {
    const last = messages.length ? messages[messages.length - 1].seq : 0;
    const isShown = (entry) => {
      if (entry.kind === "draft") return it.isOn;
      if (entry.kind === "pending") return it.isOn || !it.isStored ? !(entry.seq && entry.seq <= last) : false;
      if (entry.kind === "said") return !(entry.seq && entry.seq <= last);
      if (entry.kind === "tool") return !(entry.answer ? entry.answer.seq <= last : entry.call.seq <= last);
      return true;
    };
    const stored = listStored(messages);
    const streamed = it.entries.filter(isShown), hasOwnWord = it.isOn || streamed.some((entry) => entry.kind === "problem");
    return [...stored.filter((entry) => !(entry.kind === "open" && hasOwnWord)), ...streamed];
  };
  const settle = () => { it.entries = it.entries.filter((entry) => entry.kind === "note" || entry.kind === "pending" && !it.isStored); show(); };
  const forget = () => { it.entries = it.entries.filter((entry) => entry.kind !== "said" && entry.kind !== "tool"); show(); };
  return { mayWrite, get isOn() { return it.isOn; }, doing: it.doing, join, say, answer, again, stop, settle, forget, clear: () => { it.entries = []; show(); } };
}

/** An event of a turn as a sentence. */
export function describeNote(event, data) {
  if (event === "compacted") return `Messages ${data.first_seq}–${data.last_seq} compacted (trigger ${data.trigger}): ${plural(data.folded_count, "message")} folded, ${number(data.tokens_before)} → ${plural(data.tokens_after, "token")}.`;
  if (event === "refreshing") return `Querying ${plural(data.sources_count, "context source")} (${data.cause}).`;
  if (event === "refreshed") return `${plural(data.sources_count, "context source")} answered: message ${data.seq}, ${plural(data.tokens, "token")}.`;
  if (event === "retried") return `The request was too long for the model. Retrying with a smaller window: ${data.reason}`;
  if (event === "stopped") return `The answer was stopped: ${data.reason}${data.calls?.length ? ` Tool results are missing: ${data.calls.join(", ")}.` : ""}`;
  return event;
}
