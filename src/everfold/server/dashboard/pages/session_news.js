// What a page of one session hears: what the engine did there, and that its log has grown.
import { useEffect, useRef } from "../vendor/htm-preact-3.1.1.module.js";
import { useHappenings } from "../lib/live.js";

/** Call `reload` soon after something happened in a session, and when `tick` changes. */
export function useNews(sessionId, reload, tick = 0) {
  const isBegun = useRef(false);
  useHappenings(null, reload, { filter: (happening) => !happening.session_id || happening.session_id === sessionId });
  useEffect(() => {
    if (isBegun.current) reload();
    isBegun.current = true;
  }, [tick]);
}
