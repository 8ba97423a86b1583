// The components of all pages. Every text of the API goes through `Text` or `Line`: it is never markup, never wider than
// its place, and never longer than a browser can lay out at once.

import { createContext, html, useContext, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { connection, makeSignal } from "./api.js";
import { ago, cut, exact, number, shortId } from "./format.js";

export { html };

/** What the API key in use may do: {key, version, default_user_id}. */
export const Who = createContext(null);
export const useWho = () => useContext(Who);

let nextId = 0;
/** An id for labels, the same for the life of a component. */
export function useUid(prefix = "u") {
  const ref = useRef(null);
  return (ref.current ??= `${prefix}${++nextId}`);
}

// Addresses

/** "#users/a%20b/memory?x=1" -> {page: "users", path: ["a b", "memory"], params: {x: "1"}}. */
export function readUrl(hash = location.hash) {
  const [place, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page, ...path] = place.split("/").filter(Boolean).map(part => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  return { page: page || "", path, params: Object.fromEntries(new URLSearchParams(query)) };
}
/** hrefTo("users", id, "memory", {x: 1}) -> "#users/<id>/memory?x=1". */
export function hrefTo(...parts) {
  const query = typeof parts[parts.length - 1] === "object" ? parts.pop() : {};
  const params = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const tail = params.length ? `?${new URLSearchParams(params)}` : "";
  return `#${parts.map(part => encodeURIComponent(part)).join("/")}${tail}`;
}
/** Go to an address of the dashboard; `replace` adds no entry to the browser's history. */
export function goTo(href, { replace = false } = {}) {
  if (!replace) location.hash = href;
  else {
    history.replaceState(null, "", href);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
/** The address now, as `readUrl` gives it. */
export function useUrl() {
  const [url, setUrl] = useState(readUrl);
  useLayoutEffect(() => { // what listens does so from the picture on that is shown: an effect may come many frames later
    const hear = () => setUrl(readUrl());
    addEventListener("hashchange", hear);
    return () => removeEventListener("hashchange", hear);
  }, []);
  return url;
}

// Loading

/** Load with `fn({signal})` when `deps` change, on `reload()`, and when the connection is back. The old data stays
 *  while it loads again; `setData` replaces it with the result of a write. */
export function useLoad(fn, deps = []) {
  const [state, setState] = useState({ data: null, problem: null, isLoading: true, key: null });
  const latest = useRef({ turn: 0 });
  const key = JSON.stringify(deps);
  latest.current.fn = fn;
  latest.current.key = key;
  const ask = async isFresh => {
    const turn = ++latest.current.turn, { key } = latest.current; // a caller may hold the `reload` of an older picture
    latest.current.abort?.abort();
    const abort = (latest.current.abort = new AbortController());
    setState(old => ({ data: isFresh ? null : old.data, problem: isFresh ? null : old.problem, isLoading: true, key }));
    try {
      const data = await latest.current.fn({ signal: abort.signal });
      if (turn === latest.current.turn) setState({ data, problem: null, isLoading: false, key });
    } catch (problem) {
      if (problem.name === "AbortError" || turn !== latest.current.turn) return;
      if (problem.status === undefined) console.error(problem);
      setState(old => ({ data: problem.status === 0 ? old.data : null, problem, isLoading: false, key }));
    }
  };
  const load = isFresh => {
    const it = latest.current, going = ask(isFresh);
    Object.assign(it, { going, next: null });
    return going.finally(() => { if (it.going === going) it.going = null; });
  };
  const reload = () => { // during a load it runs after it: where changes come fast, a load that is given up for the next never ends
    const it = latest.current, { going, turn } = it;
    return going ? (it.next ??= going.then(() => turn === it.turn ? load(false) : undefined)) : load(false);
  };
  useEffect(() => {
    load(true);
    return () => { latest.current.turn++; latest.current.abort?.abort(); };
  }, [key]);
  useLayoutEffect(() => connection.onBack(() => load(false)), [key]);
  const isStale = state.key !== null && state.key !== key; // the first picture after a change of deps
  return {
    data: isStale ? null : state.data,
    problem: isStale ? null : state.problem,
    isLoading: isStale || state.isLoading,
    reload,
    setData: data => setState(old => ({ ...old, data: typeof data === "function" ? data(old.data) : data })),
  };
}

/** Run something once at a time: {isBusy, problem, run, clear}; `run` gives undefined when it failed. */
export function useAction(fn) {
  const [state, setState] = useState({ isBusy: false, problem: null });
  const latest = useRef({});
  latest.current.fn = fn;
  const run = async (...given) => {
    if (latest.current.isBusy) return undefined;
    latest.current.isBusy = true;
    setState({ isBusy: true, problem: null });
    try {
      const result = await latest.current.fn(...given);
      setState({ isBusy: false, problem: null });
      return result ?? null;
    } catch (problem) {
      if (problem.status === undefined && problem.name !== "AbortError") console.error(problem);
      setState({ isBusy: false, problem });
      return undefined;
    } finally {
      latest.current.isBusy = false;
    }
  };
  return { ...state, run, clear: () => setState({ isBusy: false, problem: null }) };
}

/** A ref for the element that gets the focus when it is mounted. */
export function useFocus() {
  const ref = useRef();
  useLayoutEffect(() => ref.current?.focus(), []);
  return ref;
}

/** A value that follows another after a pause. */
export function useDebounced(value, ms = 200) {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return late;
}

// States

export const Loading = ({ lines = 4, label = "Loading" }) => html`
  <div class="loading" role="status" aria-label=${label}>${Array.from({ length: lines }, (_, i) => html`<i key=${i}></i>`)}</div>`;

export const Empty = ({ title, hint, children }) => html`
  <div class="empty"><b>${title}</b>${hint && html`<p>${hint}</p>`}${children}</div>`;

export const Failure = ({ problem, retry, title = "The request failed" }) => problem && html`
  <div class="card failure stack tight" role="alert">
    <h3 class="bad">${title}</h3>
    <${Text} value=${problem.detail || problem.message || String(problem)} />
    ${problem.requestId && html`<p class="small soft">Request <code>${problem.requestId}</code></p>`}
    ${retry && html`<div><button type="button" onClick=${() => retry()}>Try again</button></div>`}
  </div>`;

/** The loaded data, through `children(data)`; before that a placeholder or the problem. */
export function Loaded({ load, lines, children }) {
  if (load.data !== null) return html`${load.problem && load.problem.status !== 0 && html`<${Failure} problem=${load.problem} retry=${load.reload} />`}${children(load.data)}`;
  if (load.problem && load.problem.status !== 0) return html`<${Failure} problem=${load.problem} retry=${load.reload} />`;
  return html`<${Loading} lines=${lines} />`;
}

export const Spinner = ({ label = "Working" }) => html`<i class="spinner" role="img" aria-label=${label}></i>`;

/** A button that shows a spinner while its action runs. */
export const Busy = ({ isBusy, className = "", disabled, children, type = "button", onClick, ...rest }) => html`
  <button type=${type} class=${className} disabled=${disabled || isBusy} aria-busy=${isBusy ? "true" : undefined} onClick=${onClick} ...${rest}>
    ${isBusy && html`<${Spinner} />`}${children}
  </button>`;

// Texts

const MOST_CHARS = 20000;

/** A text of any length and content: the first 20,000 characters, as high as `maxHeight` pixels; both can be opened.
 *  `shown` stands for the text where it is formatted. */
export function Text({ value, className = "", maxHeight = 300, as = "div", shown: formatted = null }) {
  const text = String(value ?? "");
  const [shown, setShown] = useState(MOST_CHARS);
  const [isOpen, setOpen] = useState(false);
  const [isTall, setTall] = useState(false);
  const box = useRef();
  useEffect(() => { setShown(MOST_CHARS); setOpen(false); }, [text]);
  useLayoutEffect(() => {
    if (box.current) setTall(box.current.scrollHeight > maxHeight + 24);
  }, [text, shown, maxHeight]);
  const left = text.length - shown;
  return html`
    <div class=${`text-box ${isTall && !isOpen ? "closed" : ""}`} style=${{ "--text-max": `${maxHeight}px` }}>
      <${as} class=${`text ${className}`} dir="auto" ref=${box}>${formatted ?? cut(text, shown)}</${as}>
      ${(isTall || left > 0) && html`<div class="more">
        ${isTall && html`<button type="button" class="link" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>${isOpen ? "Show less" : "Show all"}</button>`}
        ${left > 0 && (isOpen || !isTall) && html`<button type="button" class="link" onClick=${() => setShown(shown + MOST_CHARS)}>${number(left)} more characters</button>`}
      </div>`}
    </div>`;
}

/** A text on one line, cut where its place ends. */
export function Line({ value, className = "", empty = "–", max = 240, as = "span" }) {
  const text = cut(String(value ?? ""), max).replace(/\s+/g, " ").trim();
  return html`<${as} class=${`line ${className}`} dir="auto" title=${text.length > 40 ? text : undefined}>${text || empty}</${as}>`;
}

/** A moment: how long ago, with the exact time as its title. */
export const Time = ({ at, empty = "–" }) =>
  at ? html`<time datetime=${at} title=${exact(at)}>${ago(at)}</time>` : html`<span class="soft">${empty}</span>`;

/** An id, short; a click copies all of it. */
export const Id = ({ value, label = "id" }) => value ? html`
  <button type="button" class="id" title=${String(value)} aria-label=${`Copy ${label} ${shortId(value)}`} onClick=${event => { event.stopPropagation(); copy(String(value)); }}>
    ${shortId(value)}<${Icon} name="copy" /></button>` : html`<span class="soft">–</span>`;

export const Tag = ({ kind = "", title, children }) => html`<span class=${`tag ${kind}`} title=${title} dir="auto">${children}</span>`;

/** Copy a text to the clipboard and show a toast. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // pages without TLS have no clipboard
    area.value = text;
    (document.querySelector("dialog[open]") || document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied");
}

// Bars

/** Parts of a whole as a bar: parts [{label, value, className}], total; a sum above the total fills the bar. */
export function Bar({ parts, total, label, format = number, hasLegend = true }) {
  const sum = parts.reduce((all, part) => all + (part.value || 0), 0);
  const whole = Math.max(total ?? sum, sum, 1);
  const said = parts.map(part => `${part.label} ${format(part.value)}`).join(", ");
  return html`
    <div class="bar">
      <div class="bar-track" role="img" aria-label=${`${label ? `${label}: ` : ""}${said}${total ? ` of ${format(total)}` : ""}`}>
        ${parts.filter(part => part.value > 0).map(part => html`
          <div key=${part.label} class=${`bar-part ${part.className || ""}`} title=${`${part.label}: ${format(part.value)}`} style=${{ width: `${(100 * part.value) / whole}%` }}></div>`)}
      </div>
      ${hasLegend && html`<ul class="bar-legend" aria-hidden="true">${parts.map(part => html`
        <li key=${part.label}><i class=${part.className || ""}></i>${part.label} ${format(part.value)}</li>`)}</ul>`}
    </div>`;
}

// Tables

/** A table; on a phone each row is a card in which every value has the title of its column. The roles are written out
 *  because the card form has no table layout. columns [{title, cell(row), isNumber, className}]; `titleHidden` is for
 *  screen readers only. */
export const Table = ({ caption, columns, rows, keyOf = row => row.id, className = "", rowClass = () => "" }) => html`
  <div class="table-box"><table class=${`stacks ${className}`} role="table">
    <caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map(column => html`
      <th key=${column.title} scope="col" role="columnheader" class=${column.isNumber ? "number" : ""}>${column.titleHidden ? html`<span class="unseen">${column.title}</span>` : column.title}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map(row => html`
      <tr key=${keyOf(row)} role="row" class=${rowClass(row)}>${columns.map(column => html`
        <td key=${column.title} role="cell" class=${`${column.isNumber ? "number" : ""} ${column.className || ""}`} data-title=${column.titleHidden ? "" : column.title}><div>${column.cell(row)}</div></td>`)}</tr>`)}</tbody>
  </table></div>`;

// Tabs

/** Tabs that are addresses: tabs [{id, label, href, count}]. Arrow keys move between them. */
export function Tabs({ tabs, current, label }) {
  const list = useRef();
  const move = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : null;
    if (!step && to === null) return;
    event.preventDefault();
    const at = tabs.findIndex(tab => tab.id === current);
    const next = tabs[to ?? (at + step + tabs.length) % tabs.length];
    goTo(next.href);
    list.current.querySelector(`[data-tab="${next.id}"]`)?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${move}>
    ${tabs.map(tab => html`<a key=${tab.id} role="tab" data-tab=${tab.id} href=${tab.href} aria-selected=${String(tab.id === current)} tabindex=${tab.id === current ? 0 : -1}>
      ${tab.label}${tab.count != null && html`<span class="count">${number(tab.count)}</span>`}</a>`)}
  </div>`;
}

// Dialogs

/** A dialog over the page: the focus stays inside, Esc and the backdrop close it. */
export function Dialog({ title, onClose, children, size = "" }) {
  const ref = useRef(), id = useUid("dialog");
  useLayoutEffect(() => {
    const dialog = ref.current, before = document.activeElement;
    dialog.showModal();
    (dialog.querySelector("[autofocus]") || dialog.querySelector("h2")).focus();
    return () => {
      if (dialog.open) dialog.close();
      if (before && before.isConnected) before.focus();
    };
  }, []);
  const cancel = event => { event.preventDefault(); onClose(); };
  return html`
    <dialog class=${size} ref=${ref} aria-labelledby=${id} onCancel=${cancel} onClick=${event => event.target === ref.current && onClose()}>
      <div class="dialog-head"><h2 id=${id} class="line" dir="auto" tabindex="-1">${title}</h2>
        <button type="button" class="quiet icon" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></div>
      <div class="dialog-body">${children}</div>
    </dialog>`;
}

/** Returned by `onConfirm` to keep its dialog open. */
export const KEEP = Symbol("keep");

/** Asks before an action that cannot be undone; with `typed`, that text must be typed first (a string, or several accepted
 *  ones). `onConfirm` may be async: its problem is shown here; its success closes the dialog, unless it
 *  gives KEEP. */
export function Confirm({ title, text, typed = null, danger = true, confirmLabel = "Delete", onConfirm, onClose, children }) {
  const [given, setGiven] = useState("");
  const action = useAction(onConfirm);
  const wanted = (typed === null ? [] : [typed].flat()).map(one => String(one).trim()).filter(Boolean);
  const isRight = typed === null || wanted.includes(given.trim());
  const submit = async event => {
    event.preventDefault();
    const result = isRight ? await action.run() : undefined;
    if (result !== undefined && result !== KEEP) onClose?.();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose} size="narrow">
      <form class="form" onSubmit=${submit}>
        <p>${text}</p>
        ${children}
        ${typed !== null && html`<${Field} label="Type this to confirm" hint=${html`<${Line} value=${wanted[0]} className="mono" />`}>${attrs => html`
          <input ...${attrs} autofocus autocomplete="off" spellcheck=${false} value=${given} onInput=${event => setGiven(event.target.value)} />`}<//>`}
        <${Failure} problem=${action.problem} />
        <div class="actions end">
          <button type="button" onClick=${onClose} autofocus=${typed === null}>Cancel</button>
          <${Busy} type="submit" className=${`primary ${danger ? "danger" : ""}`} isBusy=${action.isBusy} disabled=${!isRight}>${confirmLabel}<//>
        </div>
      </form>
    <//>`;
}

// Forms

/** A labelled control: `children` is a function of the attributes that tie label, hint and error to it. */
export function Field({ label, hint, error, children, className = "" }) {
  const id = useUid("f");
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const attrs = { id, "aria-describedby": described || undefined, "aria-invalid": error ? "true" : undefined };
  return html`<div class=${`field ${className}`}>
    <label for=${id}>${label}</label>
    ${typeof children === "function" ? children(attrs) : children}
    ${hint && html`<div class="hint" id=${`${id}-hint`}>${hint}</div>`}
    ${error && html`<div class="error" id=${`${id}-error`} role="alert">${error}</div>`}
  </div>`;
}

/** A search box; "/" focuses the first one of a page. */
export function Search({ value, onInput, label, placeholder = label }) {
  return html`<div class="search"><${Icon} name="search" />
    <input type="search" data-search aria-label=${label} placeholder=${placeholder} value=${value} onInput=${event => onInput(event.target.value)}
      onKeyDown=${event => { if (event.key === "ArrowDown") { event.preventDefault(); event.target.closest(".rail, .page, main")?.querySelector(".virtual-row[tabindex='0']")?.focus(); } }} />
  </div>`;
}

// Toasts

const toasted = makeSignal();
let toastId = 0;
/** Show a short notice: kind "" or "bad". */
export const toast = (text, kind = "") => toasted.tell({ id: ++toastId, text: cut(String(text), 300), kind });

export function Toasts() {
  const [shown, setShown] = useState([]);
  const drop = id => setShown(old => old.filter(one => one.id !== id));
  useLayoutEffect(() => toasted.on(one => {
    setShown(old => [...old.slice(-3), one]);
    setTimeout(() => drop(one.id), one.kind === "bad" ? 9000 : 3500);
  }), []);
  return html`<div class="toasts" role="status" aria-live="polite">${shown.map(one => html`
    <div key=${one.id} class=${`toast ${one.kind}`}><span dir="auto">${one.text}</span>
      <button type="button" aria-label="Dismiss" onClick=${() => drop(one.id)}>×</button></div>`)}</div>`;
}

// The frame of pages with a rail

/** A rail beside a detail; on a phone one of the two, with a link back. */
export const RailPage = ({ label, rail, hasDetail, backHref, backLabel = "All", isWide = false, children }) => html`
  <div class=${`rail-page ${hasDetail ? "with-detail" : ""}`}>
    <section class="rail" aria-label=${label}>${rail}</section>
    <div class="detail"><div class=${`detail-inner ${isWide ? "wide" : ""}`}>
      ${hasDetail && html`<a class="button quiet back" href=${backHref}>‹ ${backLabel}</a>`}
      ${children}
    </div></div>
  </div>`;

// Icons: lines on a 20 by 20 grid

const PATHS = {
  home: "M3.500 9.500 10 4l6.500 5.500M5.500 8.500v7.500h9V8.500M8.500 16v-4h3v4",
  users: "M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4M4 16.5c.6-3 3-4.5 6-4.5s5.400 1.500 6 4.500",
  sessions: "M3.500 5h13M3.500 8.500h13M3.500 12h8M3.500 15.500h5",
  agents: "M5 7.500h10v8H5zM10 7.500V4.500M8 11.200v.6M12 11.200v.6M3 10.500v3M17 10.500v3",
  chat: "M3.500 5h13v8.500H9L5.500 16.500v-3h-2z",
  system: "M4 6h7M15 6h1M4 10h2M10 10h6M4 14h8M16 14h0M13 4.500v3M8 8.500v3M14 12.500v3",
  search: "M9 14.500A5.500 5.500 0 1 0 9 3.500a5.500 5.500 0 0 0 0 11M13 13l4 4",
  close: "M5 5l10 10M15 5L5 15",
  copy: "M7 7h9v9H7zM13 7V4H4v9h3",
  sun: "M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7M10 2v1.800M10 16.200V18M2 10h1.800M16.200 10H18M4.300 4.300l1.300 1.300M14.400 14.400l1.300 1.300M15.700 4.300l-1.300 1.300M5.600 14.400l-1.300 1.300",
  moon: "M15.500 12A6.500 6.500 0 0 1 8 4.500a6.500 6.500 0 1 0 7.500 7.500",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  out: "M12 4H5v12h7M9 10h8M14 7l3 3-3 3",
  plus: "M10 4v12M4 10h12",
  refresh: "M15.500 8A6 6 0 1 0 16 11M16 4v4h-4",
};
export const Icon = ({ name }) => html`<svg viewBox="0 0 20 20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"><path d=${PATHS[name] || ""} /></svg>`;
