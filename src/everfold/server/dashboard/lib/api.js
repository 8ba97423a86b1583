// The HTTP API as functions. Every answer without success is an ApiProblem. A lost connection is noticed here, once
// for all pages, and retried until it is back.

/** What failed: status 0 means that the server could not be reached. */
export class ApiProblem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.title || `the server answered ${status}`);
    this.name = "ApiProblem";
    this.status = status;
    this.code = body.code || (status ? "error" : "offline");
    this.detail = this.message;
    this.ids = body.ids || {};
    this.errors = body.errors || [];
    this.expected = body.expected ?? null;
    this.current = body.current ?? null;
    this.requestId = body.request_id || null;
  }
}

/** Listeners that get every value; `on` gives the function that removes the listener. */
export function makeSignal() {
  const listeners = new Set();
  return {
    on: listener => (listeners.add(listener), () => listeners.delete(listener)),
    tell: value => [...listeners].forEach(listener => listener(value)),
  };
}

const RETRY_MS = [500, 1000, 2000, 4000], ANSWER_MS = 8000;
const changed = makeSignal(), back = makeSignal(), signedOut = makeSignal();
let isOnline = true;

/** Whether the server answers: `isOnline`, `onChange(fn)`, and `onBack(fn)` for when it answers again. */
export const connection = {
  get isOnline() { return isOnline; },
  onChange: changed.on,
  onBack: back.on,
  /** A request could not reach the server: try again until it answers. */
  lose() {
    if (!isOnline) return;
    isOnline = false;
    changed.tell(false);
    look(0);
  },
  retryNow: () => ask(),
};
/** Called when the server no longer accepts the API key. */
export const onSignedOut = signedOut.on;

let looking = 0;
function look(attempt) {
  clearTimeout(looking);
  looking = setTimeout(async () => (await ask()) || look(attempt + 1), RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
}
async function ask() {
  try {
    const answer = await fetch(address("/health/live"), { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
    if (answer.status < 500) noteAnswer();
    return answer.status < 500;
  } catch {
    return false;
  }
}
/** Note that the server has answered, with success or not. */
function noteAnswer() {
  if (isOnline) return;
  clearTimeout(looking);
  isOnline = true;
  changed.tell(true);
  back.tell();
}

/** The address of an API path (with its parts already encoded), relative to the address of the dashboard. */
function address(path, params) {
  const url = new URL(path.replace(/^\//, ""), document.baseURI.split("#")[0]);
  for (const [name, value] of Object.entries(params || {})) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

/** A path from a template: pathOf`/api/users/${id}/memory`; every part is encoded. */
export const pathOf = (strings, ...parts) =>
  strings.reduce((path, text, index) => path + encodeURIComponent(parts[index - 1]) + text);

async function request(url, options) {
  let answer;
  try {
    answer = await fetch(url, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connection.lose();
    throw new ApiProblem(0, { detail: "The server cannot be reached. This page reconnects automatically." });
  }
  if (answer.status < 500) noteAnswer();
  if (answer.ok || answer.status === 304) return answer;
  const problem = new ApiProblem(answer.status, await answer.json().catch(() => ({})));
  if (answer.status === 401 && !String(url).endsWith("/api/login")) signedOut.tell();
  throw problem;
}

async function read(answer) {
  const text = answer.status === 204 ? "" : await answer.text();
  return { status: answer.status, data: text ? JSON.parse(text) : null, etag: answer.headers.get("ETag") };
}

/** Read a path; gives the body. Parameters that are null or empty are left out. */
export async function get(path, params, { signal } = {}) {
  return (await read(await request(address(path, params), { signal }))).data;
}

/** Read a path; gives {status, data, etag}. */
export async function getTagged(path, params, { signal } = {}) {
  return read(await request(address(path, params), { signal }));
}

/** Write; gives {status, data, etag}. A lost race is an ApiProblem of status 409 with `expected` and `current`. */
export async function send(method, path, body, { etag, idempotencyKey, params, signal } = {}) {
  const headers = { "Idempotency-Key": idempotencyKey || crypto.randomUUID?.() || String(Math.random()).slice(2) };
  if (body !== undefined && body !== null) headers["Content-Type"] = "application/json";
  if (etag != null) headers["If-Match"] = /^(W\/)?"/.test(etag) ? etag : `"${etag}"`;
  const options = { method, headers, signal, body: headers["Content-Type"] ? JSON.stringify(body) : undefined };
  return read(await request(address(path, params), options));
}

/** Write, and hear the answer as server-sent events: onEvent({event, data}), data parsed; resolves at its end. */
export async function streamPost(path, body, { onEvent, signal } = {}) {
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  const answer = await request(address(path), { method: "POST", headers, body: JSON.stringify(body), signal });
  try {
    await readEvents(answer.body, onEvent);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connection.lose();
    throw new ApiProblem(0, { detail: "The connection was lost in the middle of the answer." });
  }
}

/** Hear a stream of events; resolves when it ends. Unlike EventSource it also hears kinds without a listener. */
export async function streamGet(path, params, { onEvent, onOpen, signal } = {}) {
  const options = { headers: { Accept: "text/event-stream" }, signal, credentials: "same-origin" };
  const answer = await fetch(address(path, params), options);
  if (answer.status === 401) signedOut.tell();
  if (!answer.ok) throw new ApiProblem(answer.status, await answer.json().catch(() => ({})));
  noteAnswer();
  onOpen?.();
  await readEvents(answer.body, onEvent);
}

/** Send a file as it is, and hear the answer as server-sent events. onSent(share) tells how much of the file is sent, which
 *  fetch does not; an error that onEvent throws ends the answer. */
export function upload(path, file, params, { onSent, onEvent } = {}) {
  return new Promise((resolve, reject) => {
    const ask = new XMLHttpRequest(), take = takeEvents(onEvent);
    let read = 0, failed = null;
    const hear = () => {
      if (ask.status !== 200 || failed) return;
      try { take(ask.responseText.slice(read)); read = ask.responseText.length; }
      catch (error) { failed = error; ask.abort(); reject(error); }
    };
    ask.open("POST", address(path, params));
    ask.setRequestHeader("Content-Type", "application/octet-stream");
    ask.upload.onprogress = event => onSent?.(event.lengthComputable ? event.loaded / event.total : 1);
    ask.onprogress = () => hear();
    ask.onload = () => {
      hear();
      if (failed) return;
      noteAnswer();
      if (ask.status === 200) return resolve();
      if (ask.status === 401) signedOut.tell();
      reject(new ApiProblem(ask.status, parse(ask.responseText)));
    };
    ask.onerror = () => { connection.lose(); reject(new ApiProblem(0, { detail: "The connection was lost. The import continues if the whole file has arrived." })); };
    ask.send(file);
  });
}

/** Parse server-sent events. Source: WHATWG HTML, section 9.2.6, Interpreting an event stream. */
async function readEvents(stream, onEvent) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const take = takeEvents(onEvent);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    take(value);
  }
}
/** A function that takes the next text of a stream, and tells each event that is whole. */
function takeEvents(onEvent) {
  let rest = "", event = "", data = [];
  const take = line => {
    if (line === "") {
      if (data.length) onEvent?.({ event: event || "message", data: parse(data.join("\n")) });
      event = "";
      data = [];
    } else if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  };
  return text => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    lines.forEach(take);
  };
}
function parse(text) {
  try { return JSON.parse(text); } catch { return text; }
}

/** Fetch a path and save it as a file under the name that the server gives; gives that name. */
export async function download(path, params, fallback) {
  const answer = await request(address(path, params), {});
  const name = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") || "")?.[1] || fallback;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return name;
}

/** What a 422 says, by field: {"context_limit": "..."}; where a field lies in the body is left out. */
export function errorsByField(problem) {
  const found = {};
  for (const { field, message } of problem?.errors || []) found[String(field).replace(/^body\./, "")] ??= message;
  return found;
}
