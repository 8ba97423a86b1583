// The link that the server prints at its start: it carries an API key in its fragment, which browsers send to no server.

import { send } from "./api.js";
import { goTo, readUrl } from "./ui.js";

/** Sign in where the address is such a link, and go on to the page `to`. The key leaves the address and the history. */
export async function signInByLink() {
  const { page, params } = readUrl();
  if (page !== "sign-in" || !params.key) return;
  goTo(`#${params.to || ""}`, { replace: true });
  await send("POST", "/api/login", { api_key: params.key }).catch(() => null); // then the form asks for a key
}
