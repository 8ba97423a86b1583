// Home: what is stored, what happened lately, what folding saves, and what waits for a person.

import { get } from "../lib/api.js";
import { DayChart, fillDays } from "../lib/chart.js";
import { compact, number, percent, plural, secs, usd, words } from "../lib/format.js";
import { isListed, useEngineEvents, useLooks, WITHDRAWN } from "../lib/live.js";
import { hrefTo, html, Loaded, Time, useLoad, useWho } from "../lib/ui.js";
import { FirstSteps } from "./first_steps.js";
import { SessionLines } from "./session_lines.js";

const DAYS = 30, MOST_SESSIONS = 8;
const NEWS = ["messages_appended", ...WITHDRAWN, "session_switched", "compaction_committed", "compaction_degraded", "extraction_ended"];

export default function Home() {
  const { api_key: key } = useWho(), isAdmin = key.scope === "admin";
  const load = useLoad(({ signal }) => isAdmin ? get("/api/home", null, { signal }) : get("/api/sessions", { limit: MOST_SESSIONS, previews: true }, { signal }), []);
  useEngineEvents(NEWS, load.reload, { filter: isListed, waitMs: 2500 });
  useLooks(load.reload);
  return html`<div class="page stack home">
    <h1>Home</h1>
    <${Loaded} load=${load} lines=${10}>${data => isAdmin ? html`<${Overview} home=${data} />` : html`<${Recent} sessions=${data.sessions} />`}<//>
  </div>`;
}

function Overview({ home }) {
  const days = fillDays(home.days, DAYS), sum = name => home.days.reduce((all, day) => all + day[name], 0);
  if (!home.sessions_count) return html`<${Figures} home=${home} sum=${sum} /><${Recent} sessions=${[]} />`;
  return html`
    <${Figures} home=${home} sum=${sum} />
    ${home.failed_count > 0 && html`<${Failed} home=${home} />`}
    <div class="home-grid">
      <${Recent} sessions=${home.sessions} />
      <${Saved} home=${home} days=${days} />
      <${Chart} title="Messages stored" hint="Messages of all sessions, by the day on which they were stored">
        <${DayChart} label="Messages stored a day" rows=${days} series=${[{ name: "messages", className: "is-kept", value: day => day.messages_count }]} /><//>
      <${Cache} home=${home} days=${days} sum=${sum} />
      <${Chart} title="Memory" hint="Items that extraction found, new or seen again">
        <${DayChart} label="Memory items found a day" rows=${days} series=${[{ name: "items found", className: "is-refresh", value: day => day.items_count }]} /><//>
      <${Chart} title="Folding" hint="Messages that compactions replaced by digests">
        <${DayChart} label="Messages folded a day" rows=${days} series=${[{ name: "messages folded", className: "is-digest", value: day => day.folded_count }]} /><//>
    </div>`;
}

const Figure = ({ value, label, note, kind = "" }) => html`<li><b class=${kind}>${value}</b><span>${label}</span>${note && html`<small>${note}</small>`}</li>`;
const shareOf = (part, whole) => (whole ? part / whole : null);

/** What the input tokens of requests cost by the prices of the settings; null where there are none. */
export function costOf(prices, tokens, cachedTokens) {
  if (prices.input_usd === null) return null;
  return ((tokens - cachedTokens) * prices.input_usd + cachedTokens * (prices.cached_usd ?? 0)) / 1e6;
}

function Figures({ home, sum }) {
  const { total, prices } = home, saved = total.whole_tokens - total.sent_tokens;
  const whole = costOf(prices, total.whole_tokens, total.whole_cached_tokens), sent = costOf(prices, total.sent_tokens, total.sent_cached_tokens);
  return html`<ul class="figures" aria-label="Figures">
    <${Figure} value=${number(home.sessions_count)} label=${home.sessions_count === 1 ? "session" : "sessions"} note=${html`of <a href="#users">${plural(home.users_count, "user")}</a>`} />
    <${Figure} value=${compact(total.messages_count)} label="messages stored" note=${`${number(sum("messages_count"))} in the last ${DAYS} days`} />
    <${Figure} value=${total.requests_count ? compact(Math.max(0, saved)) : "–"} label="input tokens saved" note=${total.requests_count ? `${percent(shareOf(saved, total.whole_tokens))} of ${compact(total.whole_tokens)} in ${plural(total.requests_count, "request")}` : "no window was taken yet"} />
    ${whole === null
      ? html`<${Figure} value="–" label="dollars saved" note=${html`set <code>prices.input_usd</code>`} />`
      : html`<${Figure} value=${usd(whole - sent)} label="saved" note=${`${usd(sent)} instead of ${usd(whole)}`} />`}
    <${Figure} value=${percent(shareOf(total.sent_cached_tokens, total.sent_tokens))} label="cache share" note="of the sent tokens repeat the previous request" />
    <${Figure} value=${number(home.failed_count)} kind=${home.failed_count ? "bad" : ""} label=${home.failed_count === 1 ? "failure waits" : "failures wait"} note=${home.pending_count ? `${plural(home.pending_count, "compaction")} pending for up to ${secs(home.oldest_pending_secs)}` : "no compaction is pending"} />
  </ul>`;
}

const Chart = ({ title, hint, children }) => html`<section class="card" aria-label=${title}><div class="card-head"><h2>${title}</h2></div><p class="small soft chart-hint">${hint}</p>${children}</section>`;

/** The tokens of requests as they were sent, before those of the whole conversation in each. */
function Saved({ home, days }) {
  const { prices } = home;
  return html`<${Chart} title="Input tokens" hint="Tokens of all requests: as sent, and if each contained the whole conversation">
    <${DayChart} label="Input tokens a day" rows=${days} format=${compact} series=${[
      { name: "whole conversation", className: "is-tail", value: day => day.whole_tokens },
      { name: "sent", className: "is-kept", value: day => day.sent_tokens }]} />
    <p class="small soft">Estimated${prices.input_usd === null ? "" : `; in dollars at ${usd(prices.input_usd)} per million input tokens, ${usd(prices.cached_usd)} from the cache`}. The whole conversation would get more from the cache, and soon exceed the context limit.</p>
  <//>`;
}

function Cache({ home, days, sum }) {
  const calls = sum("calls_count"), input = sum("input_tokens");
  return html`<${Chart} title="Cache" hint="Tokens that repeat the beginning of the previous request, and new tokens">
    <${DayChart} label="Repeated and new tokens a day" rows=${days} format=${compact} isStacked=${true} series=${[
      { name: "repeated", className: "is-digest", value: day => day.sent_cached_tokens },
      { name: "new", className: "is-kept", value: day => day.sent_tokens - day.sent_cached_tokens }]} />
    <p class="small soft">${calls ? `Everfold's own model calls in ${DAYS} days: ${number(calls)}, ${compact(input)} tokens read, ${percent(shareOf(sum("cached_tokens"), input))} of them from the provider's cache, ${usd(sum("cost_usd"))}.` : `Everfold made no model call in ${DAYS} days.`}</p>
  <//>`;
}

const Failed = ({ home }) => html`<section class="card failure" aria-label="Failures that wait">
  <div class="card-head"><h2>${home.failed_count === 1 ? "A compaction failed" : `${number(home.failed_count)} compactions failed`}</h2><a class="button" href="#system">Retry on the page System</a></div>
  <ul class="stack tight">${home.failed.map(one => html`<li key=${one.id}><a href=${hrefTo("sessions", one.session_id, "compactions", { compaction: one.id })}>messages ${number(one.first_seq)}–${number(one.last_seq)}</a>
    <span class="small soft"> by ${words(one.trigger)}, <${Time} at=${one.begun_at} />${one.problem ? html`: <span dir="auto">${String(one.problem).slice(0, 200)}</span>` : ""}</span></li>`)}</ul>
</section>`;

const Recent = ({ sessions }) => html`<section class="card" aria-label="Newest sessions"><div class="card-head"><h2>Newest sessions</h2>${sessions.length > 0 && html`<a class="small" href="#sessions">All sessions</a>`}</div>
  ${sessions.length ? html`<${SessionLines} sessions=${sessions} />`
    : html`<${FirstSteps} title="Nothing is stored yet" hint="The first message to an agent starts a session."><a class="button" href="#chat">Open the chat</a><//>`}
</section>`;
