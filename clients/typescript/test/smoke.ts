/** Talks with a real server: its address and an API key are the arguments. Prints what it found as JSON. */

import assert from "node:assert/strict";
import { connect, EverfoldError, readEvents, unwrap } from "../src/index.js";

const [url, key] = process.argv.slice(2);
assert(url && key, "usage: smoke URL KEY");
const api = connect({ url, apiKey: key });

const session = unwrap(await api.POST("/api/sessions", { body: { agent: "helper", limit: 8000 } }));
const path = { session: session.id };
const appended = unwrap(
  await api.POST("/api/sessions/{session}/messages", {
    params: { path },
    body: { messages: [{ role: "user", content: "Remember: never deploy on Fridays." }] },
  }),
);
const window = unwrap(await api.POST("/api/sessions/{session}/window", { params: { path }, body: { provider: "openai" } }));
const { sessions } = unwrap(await api.GET("/api/sessions", { params: { query: { agent: "helper" } } }));

const refused = await api.GET("/api/sessions/{session}", { params: { path: { session: "ses_none" } } });
assert(refused.error);
assert.throws(() => unwrap(refused), EverfoldError);

const imported = await api.POST("/api/imports", {
  params: { query: { name: "talk.jsonl" } },
  body: '{"role": "user", "content": "hello"}\n',
  bodySerializer: (body: unknown) => body as string,
  headers: { "Content-Type": "application/octet-stream" },
  parseAs: "stream",
});
const events: string[] = [];
for await (const { event } of readEvents(imported.data as unknown as ReadableStream<Uint8Array>)) events.push(event);

console.log(
  JSON.stringify({
    session: session.id,
    appended,
    sessions: sessions.length,
    tokens: window.report.tokens,
    code: (refused.error as { code: string }).code,
    events,
  }),
);
