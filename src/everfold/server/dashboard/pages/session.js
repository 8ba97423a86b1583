// One session: its facts, its actions and its four views.
import { useCallback, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf, send } from "../lib/api.js";
import { number, plural } from "../lib/format.js";
import { useEngineEvents } from "../lib/live.js";
import { Confirm, Empty, Failure, goTo, hrefTo, html, Id, Loading, Tabs, Time, toast, useLoad, useWho } from "../lib/ui.js";
import { FateChip } from "./fates.js";
import { useUserName } from "./names.js";
import { CompactionsTab, loadCompactions } from "./session_compactions.js";
import { LogTab } from "./session_log.js";
import { MessagePanel, describeCounts } from "./session_message.js";
import { useNews } from "./session_news.js";
import { PreviewNotice, usePreview } from "./session_preview.js";
import { titleOf } from "./session_lines.js";
import { RecallTab } from "./session_recall.js";
import { StripBoard, fateAt, indexStrip } from "./session_strips.js";
import { TitleDialog } from "./session_title.js";
import { WindowInspector } from "./session_window.js";

const TABS = [["strips", "Strips"], ["log", "Log"], ["compactions", "Compactions"], ["window", "Window"], ["recall", "Recall"]];
const POINTED_MS = 120;
const NEAR = 20;

/** The address of a session, of one of its views, and of a message there. */
export const sessionHref = (id, tab = "strips", seq = null) => (tab === "strips" ? hrefTo("sessions", id, { seq }) : hrefTo("sessions", id, tab, { seq }));

export function SessionPage({ id, tab, seq, openCompaction, question }) {
  const session = useLoad(() => get(pathOf`/api/sessions/${id}`), [id]);
  const [tick, setTick] = useState(0);
  useNews(id, session.reload);
  const size = session.data ? session.data.messages_count ?? session.data.state?.last_seq ?? 0 : 0;
  const changed = () => { session.reload(); setTick((old) => old + 1); };
  if (session.problem && !session.data) return html`<div class="page session-page"><${Back} /><${Failure} problem=${session.problem} retry=${session.reload} /></div>`;
  if (!session.data) return html`<div class="page session-page"><${Back} /><${Loading} /></div>`;
  const chosen = TABS.some(([name]) => name === tab) ? tab : "strips";
  const jump = (to, view = chosen === "log" ? "log" : "strips") => goTo(sessionHref(id, view, to));
  return html`<div class="page session-page">
    <${Back} />
    <${SessionHead} session=${session.data} onChanged=${changed} />
    <${Tabs} label="Views of the session" tabs=${TABS.map(([name, label]) => ({ id: name, label, href: sessionHref(id, name) }))} current=${chosen} />
    <div class="tab-body" role="tabpanel" aria-label=${TABS.find(([name]) => name === chosen)[1]}>
      ${chosen === "strips" && html`<${StripsTab} key=${id} sessionId=${id} limitTokens=${session.data.limit_tokens} seq=${seq} tick=${tick} onJump=${(to) => jump(to, "strips")} onChanged=${changed} />`}
      ${chosen === "log" && html`<${LogTab} key=${id} session=${session.data} seq=${seq} count=${size} tick=${tick} onJump=${(to) => jump(to, "log")}
        onClose=${() => goTo(sessionHref(id, "log"))} onChanged=${changed} onSession=${(made) => made && goTo(sessionHref(made.id))} />`}
      ${chosen === "compactions" && html`<${CompactionsTab} key=${id} sessionId=${id} tick=${tick} openCompaction=${openCompaction} onJump=${(to) => jump(to, "strips")} onChanged=${changed} />`}
      ${chosen === "recall" && html`<${RecallTab} key=${id} sessionId=${id} question=${question} />`}
      ${chosen === "window" && html`<${WindowInspector} key=${id} sessionId=${id} userId=${session.data.user_id} tick=${tick} onJump=${(to) => jump(to, "log")} />`}
    </div>
  </div>`;
}

const Back = () => html`<p class="crumbs"><a href="#sessions">← All sessions</a></p>`;

function SessionHead({ session, onChanged }) {
  const state = session.state || {}, name = useUserName(session.user_id, session.user_name);
  return html`<header class="session-head">
    <div class="session-title">
      <h1 dir="auto">${titleOf(session)}${session.is_current && html`<span class="tag accent">current</span>`}</h1>
      <${SessionActions} session=${session} onChanged=${onChanged} />
    </div>
    <p class="inline-facts">
      <span><span class="soft">session</span><${Id} value=${session.id} label="session" /></span>
      <span><span class="soft">user</span><a href=${hrefTo("users", session.user_id, "memory")} dir="auto">${name}</a></span>
      <span><span class="soft">agent</span><a href=${hrefTo("agents", session.agent)} dir="auto">${session.agent}</a></span>
      <span><span class="soft">last said</span><${Time} at=${session.active_at} /></span>
      <span><span class="soft">stored</span><${Time} at=${session.created_at} /></span>
      <span>${plural(session.messages_count ?? state.last_seq ?? 0, "message")}<${CompactedThrough} seq=${session.compacted_through ?? state.compacted_through ?? 0} /></span>
      <span><span class="soft">limit</span>${number(session.limit_tokens)} tokens</span>
      ${session.parent_id && html`<span><a href=${sessionHref(session.parent_id)}>previous session</a></span>`}
    </p>
  </header>`;
}

const CompactedThrough = ({ seq }) => seq > 0 && html` <span class="soft">(1–${number(seq)} compacted)</span>`;

function SessionActions({ session, onChanged }) {
  const [isBusy, setBusy] = useState(false), [asked, setAsked] = useState(null), who = useWho();
  const act = async (verb, said) => {
    setBusy(true);
    try {
      const { data } = await send("POST", pathOf`/api/sessions/${session.id}/${verb}`);
      toast(said);
      if (data && data.id && data.id !== session.id) goTo(sessionHref(data.id)); else onChanged();
    } catch (problem) { toast(problem.detail || problem.message, "bad"); } finally { setBusy(false); }
  };
  const erase = async () => {
    const { data } = await send("DELETE", pathOf`/api/sessions/${session.id}`);
    toast(`The session was erased: ${describeCounts(data)}.`);
    goTo("#sessions");
  };
  const chat = html`<a class="button" href=${hrefTo("chat", session.agent, { user: session.user_id })}>Chat</a>`;
  if (who?.api_key.read_only) return html`<p class="actions">${chat}</p>`;
  return html`<p class="actions">
    <button type="button" disabled=${isBusy} onClick=${() => setAsked("title")}>Rename…</button>
    ${!session.is_current && html`<button type="button" disabled=${isBusy} onClick=${() => act("resume", "This is the current session again.")}>Resume</button>`}
    <button type="button" disabled=${isBusy} title="Start an empty session after this one" onClick=${() => act("new", "A new session was started.")}>New</button>
    <button type="button" disabled=${isBusy} title="Start an empty session and reset the token calibration" onClick=${() => setAsked("reset")}>Reset…</button>
    ${chat}
    <button type="button" class="danger" disabled=${isBusy} onClick=${() => setAsked("erase")}>Erase…</button>
    ${asked === "title" && html`<${TitleDialog} session=${session} onClose=${() => setAsked(null)} onSaved=${() => { setAsked(null); onChanged(); }} />`}
    ${asked === "reset" && html`<${Confirm} title="Reset to an empty session?" danger=${false} confirmLabel="Reset"
      text="A new, empty session becomes the current one, and its token calibration starts again. This session and its messages stay, and you can resume it."
      onConfirm=${() => act("reset", "A new session was started, and the token calibration was reset.")} onClose=${() => setAsked(null)} />`}
    ${asked === "erase" && html`<${Confirm} title="Erase this session?" danger=${true} typed=${session.id.slice(-6)} confirmLabel="Erase the session"
      text="This deletes every message, the digests, and all memory that rests on this session alone. This cannot be undone." onConfirm=${erase} onClose=${() => setAsked(null)} />`}
  </p>`;
}

/** The strips, with the chosen message below or beside them. */
function StripsTab({ sessionId, limitTokens, seq, tick, onJump, onChanged }) {
  const [limit, setLimit] = useState(20);
  const strips = useLoad(() => get(pathOf`/api/sessions/${sessionId}/strips`, { limit }), [sessionId, limit]);
  const compactions = useLoad(() => loadCompactions(sessionId), [sessionId]);
  const under = useUnder(sessionId);
  const [row, setRow] = useState(null);
  const panel = useRef(null);
  useNews(sessionId, () => { strips.reload(); compactions.reload(); }, tick);
  const preview = usePreview(sessionId, strips.data && strips.data.strips, limitTokens);
  const list = strips.data ? [...preview.strips, ...strips.data.strips] : null;
  const ranges = useMemo(() => new Map((compactions.data || []).map((compaction) => [compaction.id, Object.assign([compaction.first_seq, compaction.last_seq], { isLateDigest: Boolean(compaction.revises) })])), [compactions.data]);
  const strip = useMemo(() => {
    if (!list || !list.length) return null;
    const found = (row && list.find((it) => it.compaction_id === row)) || list.find((it) => it.compaction_id === null) || list[list.length - 1];
    return indexStrip(found);
  }, [strips.data, preview.strips, row]);
  const choose = useCallback((chosen, to) => {
    setRow(chosen.compaction_id);
    onJump(to);
    if (innerWidth <= 720) requestAnimationFrame(() => panel.current?.scrollIntoView({ block: "start", behavior: "auto" }));
  }, [onJump]);
  const failed = [strips, compactions].find((it) => it.problem && !it.data);
  if (failed) return html`<${Failure} problem=${failed.problem} retry=${failed.reload} />`;
  if (!list) return html`<${Loading} />`;
  if (!strip || strip.count === 0) return html`<${Empty} title="No messages yet" hint="Each message adds one cell to the strips." />`;
  return html`<div class="strips-tab">
    <${PreviewNotice} preview=${preview} limitTokens=${limitTokens} />
    <${StripBoard} strips=${list} ranges=${ranges} chosen=${seq} under=${under.text} onPoint=${under.point} onChoose=${choose} />
    ${strips.data.next_cursor || (compactions.data || []).length > limit ? html`<p><button type="button" onClick=${() => setLimit(Math.min(1000, limit * 4))}>Show older compactions</button> <span class="soft">${number(Math.min(limit, list.length))} newest of ${number((compactions.data || []).length)}</span></p>` : ""}
    <div ref=${panel}>
      ${seq && seq <= strip.count ? html`<${MessagePanel} sessionId=${sessionId} seq=${seq} strip=${strip} fate=${fateAt(strip, seq)} compactions=${compactions.data} onJump=${onJump}
          onClose=${() => goTo(sessionHref(sessionId))} onErased=${onChanged} onSession=${(made) => made && goTo(sessionHref(made.id))} />`
        : html`<p class="soft hint-read">Choose a message to compare it with its digest.</p>`}
    </div>
  </div>`;
}

/** The message under the pointer in words: its fate at once, its text once it is loaded. */
function useUnder(sessionId) {
  const [text, setText] = useState(null);
  const known = useRef(new Map()), timer = useRef(0), last = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEngineEvents("message_erased", () => { known.current.clear(); setText(null); }, { filter: (one) => one.session_id === sessionId });
  const say = (strip, seq) => {
    const fate = fateAt(strip, seq), message = known.current.get(seq);
    setText(html`<b>#${number(seq)}</b> <${FateChip} fate=${fate} /> <span class="soft">${strip.compaction_id === null ? "now" : `compaction ${strip.ordinal}`}</span>${" "}
      ${message ? html`<span class="under-text" dir="auto">${message.is_erased ? "erased" : `${message.role}: ${(message.text || "").replace(/\s+/g, " ").slice(0, 200) || "no text"}`}</span>` : ""}`);
  };
  const point = useCallback((strip, seq) => {
    last.current = seq;
    say(strip, seq);
    clearTimeout(timer.current);
    if (known.current.has(seq)) return;
    timer.current = setTimeout(async () => {
      try {
        const page = await get(pathOf`/api/sessions/${sessionId}/messages`, { around: seq, before: NEAR, after: NEAR });
        for (const message of page.messages) known.current.set(message.seq, message);
        if (last.current === seq) say(strip, seq);
      } catch { /* the panel shows the problem when the message is chosen */ }
    }, POINTED_MS);
  }, [sessionId]);
  return { text, point };
}
