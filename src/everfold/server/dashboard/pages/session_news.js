// What a page of one session hears: what was said there, and what the engine did.
import { useEffect, useRef } from "../vendor/htm-preact-3.1.1.module.js";
import { useHappenings, useLooks } from "../lib/live.js";

/** Call `reload` soon after something happened in a session, and when `tick` changes. With the `memoryOf` a user also
 *  after what is remembered of them changed. */
export function useNews(sessionId, reload, tick = 0, { memoryOf = null } = {}) {
  const isBegun = useRef(false);
  const isAbout = ({ kind, session_id, previous_id, user_id }) => kind === "memory_changed"
    ? user_id === memoryOf
    : !session_id || session_id === sessionId || previous_id === sessionId;
  useHappenings(null, reload, { filter: isAbout });
  useLooks(reload);
  useEffect(() => {
    if (isBegun.current) reload();
    isBegun.current = true;
  }, [tick]);
}
