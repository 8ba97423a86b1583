// What a page of one user's memory hears: which parts of it have changed, whoever changed them.

import { useHappenings, useLooks } from "../../lib/live.js";

/** Call `reload` soon after one of these parts of what is remembered of a user changed; any of them without `parts`. */
export function useMemoryNews(user, reload, parts = null) {
  const isAbout = one => one.user_id === user.id && (!parts || parts.some(part => one.parts.includes(part)));
  useHappenings("memory_changed", reload, { filter: isAbout });
  useLooks(reload);
}
