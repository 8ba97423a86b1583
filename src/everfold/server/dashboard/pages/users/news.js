// The events of one user's memory: which parts of it have changed.

import { useEngineEvents, useLooks } from "../../lib/live.js";

/** Call `reload` soon after one of these parts of a user's memory changed; without `parts`, after any change. */
export function useMemoryNews(user, reload, parts = null) {
  const isAbout = one => one.user_id === user.id && (!parts || parts.some(part => one.parts.includes(part)));
  useEngineEvents("memory_changed", reload, { filter: isAbout });
  useLooks(reload);
}
