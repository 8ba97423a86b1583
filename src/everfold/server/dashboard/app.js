// The dashboard: signing in, choosing a page, and the frame around the pages.

import { render, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.module.js";
import { connection, get, onSignedOut, send } from "./lib/api.js";
import { live, useLiveState } from "./lib/live.js";
import { signInByLink } from "./lib/sign_in_link.js";
import { Busy, Dialog, Empty, Failure, Field, goTo, html, Icon, Line, Loading, Toasts, useAction, useUrl, Who } from "./lib/ui.js";

const PAGES = {
  home: { title: "Home", key: "h" },
  users: { title: "Users", key: "u" },
  sessions: { title: "Sessions", key: "s" },
  agents: { title: "Agents", key: "a" },
  chat: { title: "Chat", key: "c" },
  system: { title: "System", key: "y" },
};
const NAMES = Object.keys(PAGES);

// A page and its style are loaded when it is first opened. A browser remembers a module that it could not load, so each
// new attempt loads it from another address.
const loaded = new Map(), styles = new Map();
let attempts = 0;
function loadPage(name) {
  if (!loaded.has(name)) {
    const again = attempts ? `?again=${attempts}` : "";
    const loading = Promise.all([import(`./pages/${name}.js${again}`), addStyle(name)]).then(([module]) => module.default);
    loading.catch(() => { attempts++; loaded.delete(name); });
    loaded.set(name, loading);
  }
  return loaded.get(name);
}
const addStyle = name => new Promise(resolve => {
  if (styles.has(name)) return resolve();
  const link = document.createElement("link");
  Object.assign(link, { rel: "stylesheet", href: `assets/style/${name}.css`, onload: resolve, onerror: resolve });
  styles.set(name, link);
  document.head.append(link);
});
/** The style of a page applies while that page is shown, so that no class of one page changes another. */
const useStyle = name => styles.forEach((link, of) => { link.media = of === name ? "all" : "not all"; });

function Page({ url }) {
  const [state, setState] = useState({ name: null });
  const name = url.page, isPage = NAMES.includes(name);
  const wanted = useRef();
  wanted.current = name;
  const load = () => {
    const show = shown => wanted.current === name && setState({ name, ...shown }); // the user may have gone on meanwhile
    return loadPage(name).then(
      page => wanted.current === name && (useStyle(name), show({ page })),
      problem => show({ problem: { message: `The page could not be loaded: ${problem.message}` } }),
    );
  };
  useEffect(() => { if (isPage) load(); }, [name]);
  useLayoutEffect(() => connection.onBack(() => state.problem && load()), [state.problem]);
  if (!isPage) return html`<${Empty} title="Page not found" hint="Check the address."><a href="#home">Home</a><//>`;
  if (state.name !== name) return html`<div class="page"><${Loading} /></div>`;
  if (state.problem) return html`<div class="page"><${Failure} problem=${state.problem} retry=${load} /></div>`;
  return html`<${state.page} key=${name} path=${url.path} params=${url.params} />`;
}

/** Keeps the frame when a page fails while it is drawn; another address, or a new attempt, draws again. */
function Guard({ url, children }) {
  const [problem, drawAgain] = useErrorBoundary(error => console.error(error));
  useLayoutEffect(() => drawAgain(), [url]);
  if (problem) return html`<div class="page"><${Failure} title="The page failed" problem=${problem} retry=${drawAgain} /></div>`;
  return children;
}

// Colours

const THEMES = ["auto", "light", "dark"];
const THEME_ICONS = { auto: "auto", light: "sun", dark: "moon" };
function ThemeButton() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme || "auto");
  const turn = () => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === "auto") localStorage.removeItem("everfold-theme");
      else localStorage.setItem("everfold-theme", next);
    } catch {
      // without storage the choice lasts until the page is closed
    }
    setTheme(next);
  };
  return html`<button type="button" class="quiet icon" aria-label=${`Colours: ${theme}. Change`} title=${`Colours: ${theme}`} onClick=${turn}><${Icon} name=${THEME_ICONS[theme]} /></button>`;
}

// Keyboard shortcuts

const isTyping = node => node.closest("input, select, textarea, [contenteditable]") !== null;
function useShortcuts(showShortcuts) {
  const isGoing = useRef(0);
  useLayoutEffect(() => {
    const press = event => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      if (Date.now() - isGoing.current < 2000) {
        isGoing.current = 0;
        const name = NAMES.find(one => PAGES[one].key === event.key);
        if (name) { event.preventDefault(); goTo(`#${name}`); }
      } else if (event.key === "g") isGoing.current = Date.now();
      else if (event.key === "?") showShortcuts(true);
      else if (event.key === "/") {
        const search = [...document.querySelectorAll("[data-search]")].find(node => node.offsetParent !== null);
        if (search) { event.preventDefault(); search.focus(); search.select(); }
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
const Shortcuts = ({ onClose }) => html`
  <${Dialog} title="Keyboard shortcuts" onClose=${onClose} size="narrow">
    <dl class="facts">
      <dt><kbd>/</kbd></dt><dd>Search</dd>
      ${NAMES.map(name => html`<dt key=${name}><kbd>g</kbd> <kbd>${PAGES[name].key}</kbd></dt><dd>${PAGES[name].title}</dd>`)}
      <dt><kbd>↑</kbd> <kbd>↓</kbd></dt><dd>Move in a list; <kbd>Enter</kbd> opens</dd>
      <dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>Move between tabs</dd>
      <dt><kbd>Esc</kbd></dt><dd>Close a dialog</dd>
      <dt><kbd>?</kbd></dt><dd>Show these shortcuts</dd>
    </dl>
  <//>`;

// The frame

const Logo = () => html`<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#2455a4" /><path d="M8 9h16M8 14h16M8 19h9" stroke="#fffefb" stroke-width="2.6" stroke-linecap="round" /><path d="M8 24h5" stroke="#e39a2d" stroke-width="2.6" stroke-linecap="round" /></svg>`;

function LiveState() {
  const isConnected = useLiveState() === "connected";
  const says = isConnected ? "The page updates automatically" : "Waiting for the event stream";
  return html`<span class=${`state ${isConnected ? "" : "waiting"}`} title=${says}><i></i><span>${isConnected ? "live" : "connecting"}</span></span>`;
}

function useOnline() {
  const [isOnline, setOnline] = useState(connection.isOnline);
  useLayoutEffect(() => connection.onChange(setOnline), []);
  return isOnline;
}
const Banner = () => html`<div class="banner" role="alert"><i class="spinner" aria-hidden="true"></i>
  <span class="grow">The server cannot be reached. This page may be out of date. It reconnects automatically.</span>
  <button type="button" onClick=${() => connection.retryNow()}>Try now</button></div>`;

function Frame({ who, onSignOut }) {
  const url = useUrl();
  const [hasShortcuts, showShortcuts] = useState(false);
  const isOnline = useOnline();
  const main = useRef();
  useShortcuts(showShortcuts);
  useLayoutEffect(() => { if (!url.page) goTo("#home", { replace: true }); }, [url.page]);
  useEffect(() => { document.title = NAMES.includes(url.page) ? `${PAGES[url.page].title} · Everfold` : "Everfold"; }, [url.page]);
  useEffect(() => { live.start(); return () => live.stop(); }, []);
  return html`
    <div class="frame">
      <header class="top">
        <a class="skip" href="#main" onClick=${event => { event.preventDefault(); main.current.focus(); }}>Skip to content</a>
        <a class="brand" href="#home"><${Logo} />Everfold</a>
        <nav class="nav" aria-label="Pages">${NAMES.map(name => html`
          <a key=${name} href=${`#${name}`} aria-current=${url.page === name ? "page" : undefined}><${Icon} name=${name} />${PAGES[name].title}</a>`)}</nav>
        <div class="tools">
          <${LiveState} />
          <button type="button" class="quiet icon" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick=${() => showShortcuts(true)}>?</button>
          <${ThemeButton} />
          <button type="button" class="quiet icon" aria-label="Sign out" title=${`Signed in with the API key ${who.api_key.name} (${who.api_key.scope})`} onClick=${onSignOut}><${Icon} name="out" /></button>
        </div>
      </header>
      ${!isOnline && html`<${Banner} />`}
      <main class="main" id="main" tabindex="-1" ref=${main}><${Guard} url=${url}>${url.page && html`<${Page} url=${url} />`}<//></main>
      ${hasShortcuts && html`<${Shortcuts} onClose=${() => showShortcuts(false)} />`}
    </div>`;
}

function SignIn({ onSignedIn, note }) {
  const [key, setKey] = useState("");
  const signIn = useAction(async () => onSignedIn((await send("POST", "/api/login", { api_key: key.trim() })).data));
  const isRefused = signIn.problem && signIn.problem.status === 401;
  const submit = event => { event.preventDefault(); if (key.trim()) signIn.run(); };
  return html`
    <main class="sign-in">
      <form class="card" onSubmit=${submit} aria-label="Sign in">
        <h1 class="brand"><${Logo} />Everfold</h1>
        <p class="soft">${note || "Sign in with an API key. The server printed one at its first start. To create another one, run “everfold api-keys add”."}</p>
        <${Field} label="API key" error=${isRefused ? "Invalid API key. Check that it is complete, and neither revoked nor expired." : null}>${attrs => html`
          <input ...${attrs} type="password" name="key" autocomplete="current-password" autofocus required spellcheck=${false} placeholder="ef_…" value=${key} onInput=${event => setKey(event.target.value)} />`}<//>
        ${signIn.problem && !isRefused && html`<${Failure} problem=${signIn.problem} />`}
        <${Busy} type="submit" className="primary" isBusy=${signIn.isBusy}>Sign in<//>
        <p class="small soft">The API key is stored in an HTTP-only cookie and is sent to this server only.</p>
      </form>
    </main>`;
}

function App() {
  const [who, setWho] = useState(undefined);
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState(null);
  const look = () => get("/api/me").then(
    found => { setWho(found); setProblem(null); },
    failed => { if (failed.status === 401) setWho(null); else setProblem(failed); },
  );
  useEffect(() => { signInByLink().finally(look); }, []);
  useLayoutEffect(() => connection.onBack(() => who === undefined && look()), [who]);
  useLayoutEffect(() => onSignedOut(() => {
    setWho(old => { if (old) setNote("Your API key was revoked or has expired. Sign in again."); return null; });
    live.stop();
  }), []);
  const signOut = async () => {
    await send("POST", "/api/logout").catch(() => null);
    setNote("You are signed out.");
    setWho(null);
  };
  let shown = html`<p class="boot">Everfold</p>`;
  if (who) shown = html`<${Who.Provider} value=${who}><${Frame} who=${who} onSignOut=${signOut} /><//>`;
  else if (who === null) shown = html`<${SignIn} note=${note} onSignedIn=${found => { setNote(""); setWho(found); }} />`;
  else if (problem) shown = html`<main class="sign-in"><${Failure} problem=${problem} retry=${look} /></main>`;
  return html`${shown}<${Toasts} />`;
}

const root = document.getElementById("app");
root.textContent = "";
render(html`<${App} />`, root);
