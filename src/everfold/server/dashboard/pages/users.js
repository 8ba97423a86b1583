import { Empty, html } from "../lib/ui.js";

export default function Page() {
  return html`<${Empty} title="Nothing here yet" hint="This page is being built." />`;
}
