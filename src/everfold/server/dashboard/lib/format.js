// How figures, times and names are written. Pure.

const WHOLE = new Intl.NumberFormat("en-US");
const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

export const number = value => (value == null ? "–" : WHOLE.format(value));
/** 12345 -> "12.3K". */
export const compact = value => (value == null ? "–" : SHORT.format(value));
export const plural = (count, noun, many = `${noun}s`) => `${number(count)} ${count === 1 ? noun : many}`;
export const percent = ratio => (ratio == null || !isFinite(ratio) ? "–" : `${Math.round(ratio * 100)} %`);

/** Dollars: small amounts keep two significant digits. */
export function usd(value) {
  if (value == null) return "–";
  if (value === 0) return "$0";
  if (Math.abs(value) < 0.01) return `$${value.toPrecision(2)}`;
  return `$${value.toFixed(2)}`;
}

/** A duration: "340 ms", "4.2 s", "3 min", "5 h", "2 d". */
export function secs(value) {
  if (value == null) return "–";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 90) return `${Math.round(value)} s`;
  if (value < 5400) return `${Math.floor(value / 60)} min`;
  if (value < 129600) return `${Math.round(value / 3600)} h`;
  return `${Math.round(value / 86400)} d`;
}

/** "just now", "5 min ago", "in 2 h", and a date when it is further away than a month. */
export function ago(at, now = Date.now()) {
  if (!at) return "–";
  const time = Date.parse(at);
  if (Number.isNaN(time)) return String(at);
  const past = (now - time) / 1000, away = Math.abs(past);
  if (away < 45) return "just now";
  if (away > 30 * 86400) return day(at);
  const text = secs(Math.max(away, 90)); // from here on in minutes
  return past > 0 ? `${text} ago` : `in ${text}`;
}

/** "2026-03-04". */
export const day = at => (at ? new Date(at).toISOString().slice(0, 10) : "–");

/** The moment in full, in the browser's zone and in UTC. */
export function exact(at) {
  if (!at) return "";
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : `${time.toLocaleString()} · ${time.toISOString()}`;
}

/** The first `size` UTF-16 units of a text, never half of a surrogate pair. */
export function cut(text, size) {
  if (text.length <= size) return text;
  const code = text.charCodeAt(size - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? size - 1 : size);
}

/** An id, short enough for a line, with its end, which differs between neighbours. */
export function shortId(value) {
  const text = String(value ?? "");
  return text.length <= 14 ? text : `${cut(text, 6)}…${text.slice(-5)}`;
}

/** "open_items" -> "open items". */
export const words = name => String(name ?? "").replaceAll("_", " ");
