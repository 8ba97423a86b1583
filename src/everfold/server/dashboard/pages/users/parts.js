// Shared by the pages of one user: tags of a tier and a status, and reloading after a change.

import { useEffect, useRef } from "../../vendor/htm-preact-3.1.1.module.js";
import { words } from "../../lib/format.js";
import { html, Tag } from "../../lib/ui.js";

export const TierTag = ({ tier, agent }) => tier === "agent"
  ? html`<${Tag} title="What an agent noted about its work">noted by ${String(agent || "").slice(0, 40)}<//>`
  : html`<${Tag} title="About the user; shared between agents">about the user<//>`;

const STATUS_KINDS = { active: "good", quarantined: "bad", superseded: "", expired: "warn", erased: "" };
export const StatusTag = ({ status }) => html`<${Tag} kind=${STATUS_KINDS[status] || ""}>${words(status)}<//>`;

/** Load again, in place, when `changes` grows; wait with it until `isFree`. */
export function useReloads(load, changes, isFree = true) {
  const seen = useRef(changes);
  useEffect(() => {
    if (!isFree || seen.current === changes) return;
    seen.current = changes;
    load.reload();
  }, [changes, isFree]);
}
