// Everfold for opencode. `everfold connect opencode` wrote this file, and `everfold disconnect opencode` removes it.
//
// It writes each finished message of a conversation to a transcript, tells Everfold's daemon what happens, and puts what
// the daemon answers before the model. Every hook has a deadline and a catch around it: whatever goes wrong, opencode goes
// on as if this file were not there.

import { spawn } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { connect } from "node:net"
import { dirname, join } from "node:path"

const CONNECTION = __CONNECTION__
const SERVER = __SERVER__
const DEADLINE_MS = 3000
const PAUSE_MS = 50
const FAILED_MS = 60000
const MOST_CHARS = 9900

const wait = (ms) => new Promise((done) => setTimeout(done, ms))
const within = (work, ms) => Promise.race([work, wait(ms)])

function send(connection, request, waits) {
  return new Promise((done) => {
    let answer = ""
    const socket = connect(connection.socket)
    socket.on("connect", () => {
      if (waits) return socket.write(request) // an end of ours would close both ways
      socket.end(request)
      done("")
    })
    socket.on("data", (piece) => (answer += piece))
    socket.on("end", () => done(answer))
    socket.on("error", (error) => done(["ENOENT", "ECONNREFUSED"].includes(error.code) ? undefined : ""))
  })
}

export const Everfold = async ({ client }) => {
  const written = new Map() // the ids of each transcript
  const handed = new Map() // what each conversation got after its last compaction
  const compacted = new Set() // conversations that have not got it yet
  const main = new Map() // whether a conversation is the user's own, and not that of a sub-agent
  let failedAt = 0

  const guard = (hook, ms = DEADLINE_MS) => async (...given) => {
    try {
      await within(hook(...given), ms)
    } catch {}
  }

  const isMain = async (id) => {
    if (!main.has(id)) main.set(id, !(await client.session.get({ path: { id } })).data?.parentID)
    return main.get(id)
  }

  const transcriptOf = (id) => join(dirname(dirname(CONNECTION)), "opencode", `${id.replace(/[^\w-]/g, "_")}.jsonl`)

  const write = async (id) => {
    const path = transcriptOf(id)
    if (!written.has(id)) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : []
      if (lines.at(-1)) appendFileSync(path, "\n") // the end of a line that was torn
      const ids = lines.map((line) => { try { return JSON.parse(line).info.id } catch { return undefined } })
      written.set(id, new Set(ids))
    }
    const known = written.get(id)
    const messages = (await client.session.messages({ path: { id } })).data ?? []
    const last = messages.findLastIndex(({ info }) => info.role === "assistant")
    for (const [at, { info, parts }] of messages.entries()) {
      if (known.has(info.id)) continue
      if (at === last && !info.time?.completed && !info.error) break // earlier ones are over, whatever ended them
      appendFileSync(path, JSON.stringify({ info, parts }) + "\n", { mode: 0o600 })
      known.add(info.id)
    }
    return path
  }

  const tell = async (id, event, waits) => {
    const path = await write(id)
    const connection = JSON.parse(readFileSync(CONNECTION, "utf8"))
    const request = JSON.stringify({ connection: CONNECTION, event: { session_id: id, transcript_path: path, ...event } }) + "\n"
    let answer = await send(connection, request, waits)
    if (answer === undefined && Date.now() - failedAt > FAILED_MS) {
      const options = { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] }
      const daemon = spawn(connection.python, ["-m", "everfold.integrations.coding_agents.daemon", CONNECTION], options)
      daemon.on("error", () => {})
      daemon.stdin.on("error", () => {})
      daemon.stdin.end(waits ? "" : request)
      daemon.unref()
      for (let left = DEADLINE_MS; waits && answer === undefined && left > 0; left -= PAUSE_MS) {
        await wait(PAUSE_MS)
        answer = await send(connection, request, waits)
      }
      if (waits && answer === undefined) failedAt = Date.now()
    }
    const text = answer ? JSON.parse(answer).text : ""
    return typeof text === "string" && text.length <= MOST_CHARS ? text : ""
  }

  return {
    config: guard(async (config) => {
      if (SERVER && !config.mcp?.everfold) {
        config.mcp = { ...config.mcp, everfold: { type: "local", command: SERVER, enabled: true } }
      }
    }),
    event: guard(async ({ event }) => {
      const id = event.properties?.sessionID
      if (event.type === "session.idle" && (await isMain(id))) {
        await tell(id, { hook_event_name: "Stop" }, false)
      }
    }),
    "experimental.session.compacting": guard(async ({ sessionID: id }) => {
      handed.delete(id)
      compacted.add(id)
      if (await isMain(id)) await tell(id, { hook_event_name: "PreCompact" }, true)
    }),
    "experimental.chat.system.transform": guard(async ({ sessionID: id }, output) => {
      if (!id || !(await isMain(id))) return
      if (!handed.has(id)) {
        const source = compacted.delete(id) ? "compact" : "resume"
        handed.set(id, await tell(id, { hook_event_name: "SessionStart", source, is_fresh: true }, true))
      }
      if (handed.get(id)) output.system.push(handed.get(id))
    }),
    "chat.message": guard(async ({ sessionID: id }, output) => {
      if (!(await isMain(id))) return
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const text = await tell(id, { hook_event_name: "UserPromptSubmit", prompt: said.join("\n") }, true)
      if (!text) return
      const last = output.parts.at(-1)?.id ?? "prt_"
      output.parts.push({ id: `${last}z`, sessionID: id, messageID: output.message.id, type: "text", text, synthetic: true })
    }),
  }
}
