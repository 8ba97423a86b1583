/** A typed client of the HTTP API of Everfold. Every path, parameter and answer has the type of the server's OpenAPI document. */

import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, paths } from "./schema.js";
export type Problem = components["schemas"]["Problem"];

/** What the API answers with where it refuses; `problem.code` is a stable word for programs. */
export class EverfoldError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.name = "EverfoldError";
  }
}

export interface Options {
  /** Where the server is, such as `http://127.0.0.1:8420`. */
  url: string;
  /** An API key: `ef_...`. */
  apiKey: string;
  fetch?: typeof fetch;
}

/** A client with the methods `GET`, `POST`, `PATCH`, `PUT` and `DELETE`, each of which takes the paths of the API. */
export function connect({ url, apiKey, fetch: own }: Options): Client<paths> {
  return createClient<paths>({
    baseUrl: url.replace(/\/$/, ""),
    headers: { Authorization: `Bearer ${apiKey}` },
    ...(own ? { fetch: own } : {}),
  });
}

/** The data of an answer. @throws EverfoldError where the API refused. */
export function unwrap<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (error !== undefined) throw new EverfoldError(error as Problem);
  return data as T;
}

export interface ServerEvent {
  event: string;
  data: unknown;
}

/** The events of an answer that streams: of a chat, an import, or the engine. Ask for it with `parseAs: "stream"`. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const found = readBlock(block);
      if (found !== null) yield found;
    }
  }
}

function readBlock(block: string): ServerEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}
