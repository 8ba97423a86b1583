// The sources of context refreshes, each with a test.

import { get, pathOf, send } from "../../lib/api.js";
import { number, plural, secs } from "../../lib/format.js";
import { Busy, Empty, Failure, html, Line, Loaded, Tag, Text, useAction, useLoad, useWho } from "../../lib/ui.js";
import { useState } from "../../vendor/htm-preact-3.1.1.module.js";

export function Sources() {
  const load = useLoad(({ signal }) => get("/api/sources", null, { signal }), []);
  return html`
    <section class="card" aria-label="Sources">
      <div class="card-head"><h2>Sources</h2><span class="small soft">Sources of context refreshes: hands, calendars, mailboxes, pages</span></div>
      <${Loaded} load=${load}>${({ sources }) => sources.length === 0
        ? html`<${Empty} title="No sources" hint="Add a [sources.NAME] or a [hands.NAME] to everfold.toml." />`
        : html`<ul class="source-list">${sources.map(source => html`<li key=${source.name}><${Source} source=${source} /></li>`)}</ul>`}<//>
    </section>`;
}

function Source({ source }) {
  const { api_key: key } = useWho();
  const [answer, setAnswer] = useState(null);
  const test = useAction(async () => {
    setAnswer(null);
    setAnswer((await send("POST", pathOf`/api/sources/${source.name}/test`)).data);
  });
  return html`
    <div class="row wrap between">
      <span class="row grow"><b class="row"><${Line} value=${source.name} /></b><${Tag}>${source.kind}<//>${!source.is_allowed && html`<${Tag} kind="warn" title="No agent uses it: it is not in any compaction.context_sources">not used<//>`}</span>
      ${!key.read_only && html`<${Busy} isBusy=${test.isBusy} aria-label=${`Test ${source.name}`} onClick=${test.run}>${test.isBusy ? "Testing …" : "Test"}<//>`}
    </div>
    ${source.source && html`<p class="small soft"><${Line} value=${source.source} max=${300} /></p>`}
    ${source.problem && html`<${Text} className="small bad" value=${source.problem} maxHeight=${80} />`}
    ${source.prompt && html`<${Text} className="small soft" value=${source.prompt} maxHeight=${60} />`}
    <div aria-live="polite">
      ${answer && html`<div class="answer stack tight"><span class="row wrap"><${Tag} kind="good">works<//><span class="small soft">${secs(answer.secs)}, ${plural(answer.tokens ?? 0, "token")}${answer.is_cut && html`, cut to ${number(answer.budget_tokens)}`}</span></span>
        ${answer.text ? html`<${Text} className="small" value=${answer.text} maxHeight=${200} />` : html`<p class="small soft">Nothing new for the last day.</p>`}</div>`}
      <${Failure} problem=${test.problem} title="The test failed" />
    </div>`;
}
