// The dialog that gives a session a title.
import { useState } from "../vendor/htm-preact-3.1.1.module.js";
import { errorsByField, pathOf, send } from "../lib/api.js";
import { Busy, Dialog, Failure, Field, html, toast, useAction } from "../lib/ui.js";

const MOST_CHARS = 200;

export function TitleDialog({ session, onClose, onSaved }) {
  const [title, setTitle] = useState(session.own_title || "");
  const save = useAction(async () => {
    await send("PATCH", pathOf`/api/sessions/${session.id}`, { title });
    toast("Saved");
    onSaved();
  });
  const errors = errorsByField(save.problem);
  return html`<${Dialog} title="Title of the session" onClose=${onClose} size="narrow">
    <form class="form" onSubmit=${(event) => { event.preventDefault(); save.run(); }}>
      <${Field} label="Title" hint="Lists and this page show it; no model does. Empty: the first sentence of the user." error=${errors.title}>${(attrs) => html`
        <input ...${attrs} name="title" dir="auto" autofocus maxlength=${MOST_CHARS} value=${title} onInput=${(event) => setTitle(event.target.value)} />`}<//>
      ${save.problem && !errors.title && html`<${Failure} problem=${save.problem} />`}
      <div class="actions end"><button type="button" onClick=${onClose}>Cancel</button><${Busy} type="submit" className="primary" isBusy=${save.isBusy}>Save<//></div>
    </form>
  <//>`;
}
