// A time range of whole days in the reader's own time zone: two dates, either of which may be empty.
import { html } from "../lib/ui.js";

const LAST_DAY = "9999-12-31";

/** The days of an address: {from, to}, each as `2031-05-01`, or empty for what has no such form. */
export const readDays = ({ from, to }) => ({ from: readDay(from), to: readDay(to) });
const readDay = (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? text : "");

/** The moments that a range begins and ends with, as a query takes them: {since, until}. The last day is part of the range. */
export const readRange = ({ from, to }) => ({ since: readMoment(from, 0), until: readMoment(to, 1) });

/** The beginning of a day, or of one after it; undefined for no day, and outside the years that the API takes. */
function readMoment(day, daysAfter) {
  const at = new Date(`${day}T00:00`);
  at.setDate(at.getDate() + daysAfter);
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999 ? at.toISOString() : undefined;
}

/** Two fields for dates. `onChange` is given {from, to}; `of` says in a word what lies in the range. */
export const TimeRange = ({ from, to, of = "", onChange }) => html`<div class="picker time-range" role="group" aria-label="Time range">
  <label>${of ? `${of} from` : "From"}<input type="date" value=${from} max=${to || LAST_DAY} onChange=${(event) => onChange(readDays({ from: event.target.value, to }))} /></label>
  <label>${of ? `${of} to` : "To"}<input type="date" value=${to} min=${from || undefined} max=${LAST_DAY} onChange=${(event) => onChange(readDays({ from, to: event.target.value }))} /></label>
</div>`;
