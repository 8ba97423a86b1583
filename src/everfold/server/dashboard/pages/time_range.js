// A time range of whole days in the reader's own time zone: two dates, either of which may be empty.
import { html } from "../lib/ui.js";

/** The moments that a range begins and ends with, as a query takes them: {since, until}. */
export function readRange({ from, to }) {
  const since = from ? new Date(`${from}T00:00`) : null, until = to ? new Date(`${to}T00:00`) : null;
  if (until) until.setDate(until.getDate() + 1); // the last day is part of the range
  return { since: since ? since.toISOString() : undefined, until: until ? until.toISOString() : undefined };
}

/** Two fields for dates. `onChange` is given {from, to}; `of` says in a word what lies in the range. */
export const TimeRange = ({ from, to, of = "", onChange }) => html`<div class="picker time-range" role="group" aria-label="Time range">
  <label>${of ? `${of} from` : "From"}<input type="date" value=${from} max=${to || undefined} onChange=${(event) => onChange({ from: event.target.value, to })} /></label>
  <label>${of ? `${of} to` : "To"}<input type="date" value=${to} min=${from || undefined} onChange=${(event) => onChange({ from, to: event.target.value })} /></label>
</div>`;
