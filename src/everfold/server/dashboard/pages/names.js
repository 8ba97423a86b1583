// Names of users, loaded once each: sessions carry ids only.
import { useEffect, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { get, pathOf } from "../lib/api.js";

const SEEN_MS = 120;
const known = new Map(), asked = new Map();
const load = async (id) => {
  try { known.set(id, (await get(pathOf`/api/users/${id}`)).name || null); } catch { known.set(id, null); }
};

/** The name of a user once it is loaded; before that, or where it may not be read, `given` or the id. */
export function useUserName(id, given = null) {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!id || given || known.has(id)) return undefined;
    const timer = setTimeout(async () => { // no request for rows that only scroll past
      if (!asked.has(id)) asked.set(id, load(id));
      await asked.get(id);
      redraw((old) => old + 1);
    }, SEEN_MS);
    return () => clearTimeout(timer);
  }, [id, given]);
  return given || known.get(id) || id;
}
