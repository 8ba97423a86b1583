// The server's events as they happen: one stream for the whole dashboard.

import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { connection, makeSignal, streamGet } from "./api.js";

const RETRY_MS = [300, 1000, 2000, 4000], LOOK_MS = 15_000;
/** Changes after which a page may show what a session no longer holds: words, or a title. */
export const WITHDRAWN = ["message_erased", "session_changed", "session_erased"];
/** Whether such a change took words out of a session; another title takes none. */
export const isWithdrawal = ({ kind, part }) => kind !== "session_changed" || part === "messages";
/** Whether it changed what a list shows of a session: all but its settings. */
export const isListed = ({ part }) => part !== "settings";
/** All changes, sent beside the engine's own events. */
export const CHANGES = ["messages_appended", ...WITHDRAWN, "memory_changed"];
const happened = makeSignal(), changed = makeSignal();
let state = "connecting", stopper = null;

export const live = {
  get state() { return state; },
  onChange: changed.on,
  start() {
    if (!stopper) run((stopper = new AbortController()).signal);
  },
  stop() {
    stopper?.abort();
    stopper = null;
  },
};

function become(next) {
  if (next === state) return;
  state = next;
  changed.tell(state);
}

async function run(signal) {
  let attempt = 0, isFirst = true;
  while (!signal.aborted) {
    try {
      const onOpen = () => {
        become("connected");
        attempt = 0;
        if (!isFirst) happened.tell({ kind: "lost" }); // events of the meantime are missing
        isFirst = false;
      };
      const onEvent = ({ event, data }) => happened.tell({ kind: event, ...(typeof data === "object" ? data : {}) });
      await streamGet("/api/stream", null, { onEvent, onOpen, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401) return live.stop();
      if (error.status === undefined && attempt > 0) connection.lose();
    }
    become("connecting");
    await pause(RETRY_MS[Math.min(attempt++, RETRY_MS.length - 1)]);
  }
}
const pause = ms => new Promise(resolve => {
  const end = () => (clearTimeout(timer), stop(), resolve());
  const timer = setTimeout(end, ms), stop = connection.onBack(end);
});

/** Hear events of one kind, of several (an array), or of all (null); `lost` (some were missed) is always heard. */
export function onEngineEvent(kinds, listener) {
  const isWanted = kind => kinds === null || kind === "lost" || kind === kinds || (Array.isArray(kinds) && kinds.includes(kind));
  return happened.on(one => isWanted(one.kind) && listener(one));
}

/** In a page: call `listener` soon after events of these kinds that pass `filter`, once for many. */
export function useEngineEvents(kinds, listener, { filter = null, waitMs = 400 } = {}) {
  const latest = useRef();
  latest.current = { listener, filter };
  useLayoutEffect(() => {
    let timer = 0;
    const stop = onEngineEvent(kinds, one => {
      if (one.kind !== "lost" && latest.current.filter && !latest.current.filter(one)) return;
      timer ||= setTimeout(() => { timer = 0; latest.current.listener(one); }, waitMs);
    });
    return () => (clearTimeout(timer), stop());
  }, [JSON.stringify(kinds), waitMs]);
}

/** In a page: load again after a change that concerns what was loaded: `isShown(event)`. A change during a load is compared
 *  with its result, so no load is given up for another. */
export function useWithdrawals(isShown, { isLoading, reload }) {
  const [heard, setHeard] = useState([]);
  useLayoutEffect(() => onEngineEvent(WITHDRAWN, one => isListed(one) && setHeard(old => [...old, one])), []);
  useEffect(() => {
    if (isLoading || !heard.length) return;
    setHeard(old => old.slice(heard.length));
    if (heard.some(one => one.kind === "lost" || isShown(one))) reload();
  }, [isLoading, heard]);
}

/** In a page: call `look` at intervals while the event stream is down. */
export function useLooks(look, everyMs = LOOK_MS) {
  const latest = useRef();
  latest.current = look;
  useEffect(() => {
    const timer = setInterval(() => state === "connected" || document.visibilityState !== "visible" || latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** `connected` or `connecting`. */
export function useLiveState() {
  const [now, setNow] = useState(state);
  useLayoutEffect(() => live.onChange(setNow), []);
  return now;
}
