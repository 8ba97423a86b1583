// Markdown of messages. A lexer splits the text into tokens, and only the elements below are made of them: no text of a
// message ever becomes markup. HTML in a message is shown as text, an image as a link, and a link leads to http, https or
// mailto only.

import { useMemo, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { Lexer } from "../vendor/marked-18.2.1.esm.js";
import { html, Text } from "./ui.js";

const MOST_CHARS = 20_000, MOST_DEPTH = 24;
const OPTIONS = { gfm: true, breaks: true };
const LINKED = new Set(["http:", "https:", "mailto:"]);

/** A message as Markdown, with a button that shows it as it was written. Long texts are shown as written. */
export function Markdown({ value, maxHeight, className = "" }) {
  const text = String(value ?? "");
  const tokens = useMemo(() => (text.length > MOST_CHARS ? null : readMarkdown(text)), [text]);
  const [isPlain, setPlain] = useState(false);
  if (tokens === null || isPlainText(tokens)) return html`<${Text} value=${text} maxHeight=${maxHeight} className=${className} />`;
  return html`<div class="markdown-box">
    ${isPlain ? html`<${Text} value=${text} maxHeight=${maxHeight} className=${className} />`
      : html`<${Text} as="div" maxHeight=${maxHeight} className=${`markdown ${className}`} value=${text} shown=${html`<${Tokens} tokens=${tokens} />`} />`}
    <button type="button" class="link small" aria-pressed=${String(isPlain)} onClick=${() => setPlain(!isPlain)}>${isPlain ? "Show formatted" : "Show as written"}</button>
  </div>`;
}

function readMarkdown(text) {
  try { return new Lexer(OPTIONS).lex(text); } catch { return null; }
}

/** Whether formatting would change nothing: paragraphs of plain text. */
const isPlainText = tokens => tokens.every(token => token.type === "space" || (token.type === "paragraph" && (token.tokens || []).every(one => ["text", "br", "escape"].includes(one.type) && one.raw === one.text)));

const Tokens = ({ tokens, depth = 0 }) => (tokens || []).map((token, index) => html`<${Token} key=${index} token=${token} depth=${depth + 1} />`);

function Token({ token, depth }) {
  if (depth > MOST_DEPTH) return token.raw;
  const inner = () => (token.tokens ? html`<${Tokens} tokens=${token.tokens} depth=${depth} />` : plainOf(token));
  switch (token.type) {
    case "space": return null;
    case "paragraph": return html`<p dir="auto">${inner()}</p>`;
    case "heading": return html`<p class=${`md-heading md-h${token.depth}`} role="heading" aria-level=${Math.min(6, token.depth + 3)} dir="auto">${inner()}</p>`;
    case "code": return html`<pre dir="ltr" tabindex="0"><code>${token.text}</code></pre>`;
    case "codespan": return html`<code>${token.text}</code>`;
    case "strong": return html`<strong>${inner()}</strong>`;
    case "em": return html`<em>${inner()}</em>`;
    case "del": return html`<del>${inner()}</del>`;
    case "br": return html`<br />`;
    case "hr": return html`<hr />`;
    case "blockquote": return html`<blockquote>${inner()}</blockquote>`;
    case "list": return html`<${List} token=${token} depth=${depth} />`;
    case "table": return html`<${Cells} token=${token} depth=${depth} />`;
    case "link": return html`<${Link} href=${token.href}>${inner()}<//>`;
    case "image": return html`<${Link} href=${token.href}>${token.text || token.href}<//>`;
    case "checkbox": return token.checked ? "☑ " : "☐ ";
    case "text": case "escape": return inner();
    default: return token.raw; // HTML and whatever else there is: text
  }
}

/** A text token's words; the lexer has left entities as they were written. */
const plainOf = token => token.text ?? token.raw;

const List = ({ token, depth }) => {
  const items = token.items.map((item, index) => html`<li key=${index} dir="auto"><${Tokens} tokens=${item.tokens} depth=${depth} /></li>`);
  return token.ordered ? html`<ol start=${token.start || 1}>${items}</ol>` : html`<ul>${items}</ul>`;
};

const Cells = ({ token, depth }) => html`<div class="table-box" tabindex="0"><table>
  <thead><tr>${token.header.map((cell, index) => html`<th key=${index} scope="col" class=${cell.align === "right" ? "number" : ""}><${Tokens} tokens=${cell.tokens} depth=${depth} /></th>`)}</tr></thead>
  <tbody>${token.rows.map((row, at) => html`<tr key=${at}>${row.map((cell, index) => html`<td key=${index} class=${cell.align === "right" ? "number" : ""}><${Tokens} tokens=${cell.tokens} depth=${depth} /></td>`)}</tr>`)}</tbody>
</table></div>`;

/** A link with its target in its title. A target that is not allowed is shown as text beside the words. */
function Link({ href, children }) {
  let url = null;
  try { url = new URL(href); } catch { /* relative or broken: it leads nowhere from here */ }
  if (!url || !LINKED.has(url.protocol)) return html`<span>${children} <span class="soft">(${href})</span></span>`;
  return html`<a href=${url.href} title=${url.href} target="_blank" rel="noopener noreferrer nofollow">${children}</a>`;
}
