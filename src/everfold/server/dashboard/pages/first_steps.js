// What an empty dashboard offers: load the demo, or import conversations.
import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { send } from "../lib/api.js";
import { ImportDialog } from "./import_dialog.js";
import { Busy, Empty, Failure, goTo, hrefTo, html, toast, useAction, useWho } from "../lib/ui.js";

/** An empty list with the first steps, for API keys that may take them; `hint` is shown to the others. */
export function FirstSteps({ title, hint, children }) {
  const { api_key: key } = useWho();
  const load = useAction(async () => {
    const { data } = await send("POST", "/api/demo");
    toast("The demo is loaded.");
    goTo(hrefTo("sessions", data.session_id));
  });
  if (key.scope !== "admin" || key.read_only) return html`<${Empty} title=${title} hint=${hint}>${children}<//>`;
  return html`<${Empty} title=${title} hint="Import conversations from another product, or load a demo: two users, a long conversation that folds, memory and a dream. No model is called.">
    <div class="row">
      <${ImportButton} />
      <${Busy} isBusy=${load.isBusy} onClick=${() => load.run()}>${load.isBusy ? "Loading the demo…" : "Load the demo"}<//>
      ${children}
    </div>
    ${load.problem && html`<${Failure} problem=${load.problem} />`}
  <//>`;
}

/** The button that opens the import; nothing for API keys that only read. */
export function ImportButton({ user, agent, onImported, className = "primary" }) {
  const [isOpen, setOpen] = useState(false);
  const { api_key: key } = useWho();
  if (key.read_only) return null;
  return html`<button type="button" class=${className} onClick=${() => setOpen(true)}>Import…</button>
    ${isOpen && html`<${ImportDialog} user=${user} agent=${agent} onImported=${onImported} onClose=${() => setOpen(false)} />`}`;
}
