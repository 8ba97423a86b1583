// The events that a page of one session listens to.
import { useEffect, useRef } from "../vendor/htm-preact-3.1.1.module.js";
import { useEngineEvents, useLooks } from "../lib/live.js";

/** Call `reload` soon after an event of a session, and when `tick` changes. With `memoryOf`, the id of a user, also after
 *  an event of their memory. */
export function useNews(sessionId, reload, tick = 0, { memoryOf = null } = {}) {
  const isBegun = useRef(false);
  const isAbout = ({ kind, session_id, previous_id, user_id }) => kind === "memory_changed"
    ? user_id === memoryOf
    : !session_id || session_id === sessionId || previous_id === sessionId;
  useEngineEvents(null, reload, { filter: isAbout });
  useLooks(reload);
  useEffect(() => {
    if (isBegun.current) reload();
    isBegun.current = true;
  }, [tick]);
}
