// The log as strips: a row for the log as it is now and one for each compaction, newest first, in which each message has
// the colour of what became of it. A row is drawn on a canvas of the width of the view, from runs `[fate, count]`, so that
// drawing costs as much as the runs in view, not the whole log. The canvas stays in view while the track
// under it scrolls; only rows that are on the screen are drawn.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { number } from "../lib/format.js";
import { html } from "../lib/ui.js";
import { FATES, FateChip, Legend, THIN, fateMeaning, fateName } from "./fates.js";

const HIGH_PX = 26;
const BAND_PX = 22;
const ZOOMS = [0, 2, 4, 12];
const MOST_PX = 20_000_000; // browsers cap how wide an element can be, at about 33 million pixels

/** A strip with the number of the last message of each run, so that a run is found by halving. */
export function indexStrip(strip) {
  const ends = new Float64Array(strip.runs.length);
  let at = 0;
  strip.runs.forEach(([, count], index) => { ends[index] = at += count; });
  return { ...strip, ends, count: at };
}

const runAt = (strip, seq) => {
  let low = 0, high = strip.ends.length;
  while (low < high) { const middle = (low + high) >> 1; if (strip.ends[middle] < seq) low = middle + 1; else high = middle; }
  return low;
};

/** The fate of a message in a strip; null for one that did not exist yet. */
export const fateAt = (strip, seq) => (seq < 1 || seq > strip.count ? null : strip.runs[runAt(strip, seq)][0]);

function paint(canvas, { strip, range, fromPx, widePx, cellPx, colours }) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(widePx * ratio));
  canvas.height = HIGH_PX * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const first = runAt(strip, Math.floor(fromPx / cellPx) + 1), gapPx = cellPx > 3 ? 0.8 : 0;
  const passes = [(fate, wide) => !THIN.has(fate) || wide >= 1.5, (fate, wide) => THIN.has(fate) && wide < 1.5];
  for (const takes of passes) {
    const drawnAt = {};
    for (let index = first; index < strip.runs.length; index++) {
      const [fate, count] = strip.runs[index];
      const left = (strip.ends[index] - count) * cellPx - fromPx, wide = count * cellPx;
      if (left > widePx) break;
      if (!takes(fate, wide)) continue;
      if (wide < 0.5) { // many to a pixel: once a column and fate is enough
        const column = Math.floor(left);
        if (drawnAt[fate] === column) continue;
        drawnAt[fate] = column;
      }
      pen.fillStyle = colours[fate] || colours.open;
      if (gapPx === 0) pen.fillRect(left, 0, Math.max(wide, THIN.has(fate) ? 1.5 : 0.5), BAND_PX);
      else drawCells(pen, left, count, cellPx, gapPx, widePx);
    }
  }
  pen.fillStyle = colours.ink;
  if (range && range[1] >= range[0]) pen.fillRect((range[0] - 1) * cellPx - fromPx, BAND_PX + 2, Math.max((range[1] - range[0] + 1) * cellPx, 2), 1.5);
}

function drawCells(pen, left, count, cellPx, gapPx, widePx) {
  const from = Math.max(0, Math.floor(-left / cellPx)), to = Math.min(count, Math.ceil((widePx - left) / cellPx));
  for (let at = from; at < to; at++) pen.fillRect(left + at * cellPx, 0, cellPx - gapPx, BAND_PX);
}

const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries([...Object.keys(FATES), "ink"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};

export const PREVIEW = "preview"; // stands for a compaction's id in a strip that shows how a lower limit would fold
const rowName = (strip) => (strip.compaction_id === null ? "now" : strip.compaction_id === PREVIEW ? `preview at ${number(strip.limit_tokens)} tokens` : `compaction ${strip.ordinal}`);
const describe = (strip, seq) => {
  const fate = fateAt(strip, seq);
  return fate === null ? `message ${seq} did not exist yet` : `message ${seq}, ${rowName(strip)}: ${fateName(fate)}`;
};

/**
 * The board of strips.
 *
 * strips: as the API gives them, newest last. ranges: the first and last message of each compaction, by its id. chosen: {row,
 * seq}. onPoint(strip, seq) is called while the pointer or the keys move, onChoose(strip, seq) for a click or Enter.
 */
export function StripBoard({ strips, ranges, chosen, under, onPoint, onChoose }) {
  const rows = useMemo(() => strips.map(indexStrip).reverse(), [strips]);
  const count = Math.max(1, ...rows.map((row) => row.count));
  const [leastPx, setLeastPx] = useState(0);
  const [row, setRow] = useState(0);
  const [seq, setSeq] = useState(chosen || 0);
  const board = useRef(null), tracks = useRef([]), visible = useRef(new Set()), frame = useRef(0);
  const [viewPx, setViewPx] = useState(600);
  const cellPx = Math.max(Math.min(leastPx, MOST_PX / count), viewPx / count);

  useEffect(() => { if (chosen) setSeq(chosen); }, [chosen]);

  const redraw = useCallback(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const colours = readColours(), fromPx = Math.min(board.current?.scrollLeft || 0, Math.max(0, count * cellPx - viewPx));
      for (const index of visible.current) {
        const canvas = tracks.current[index], strip = rows[index];
        if (canvas && strip) paint(canvas, { strip, range: ranges.get(strip.compaction_id), fromPx, widePx: viewPx, cellPx, colours });
      }
    });
  }, [rows, ranges, cellPx, viewPx, count]);

  useLayoutEffect(() => {
    const measure = () => {
      const node = board.current;
      if (!node) return;
      const labelsPx = parseFloat(getComputedStyle(node).getPropertyValue("--labels")) || 0;
      setViewPx(Math.max(120, node.clientWidth - labelsPx - (labelsPx ? 16 : 24)));
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(board.current);
    return () => watcher.disconnect();
  }, []);

  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const index = Number(entry.target.dataset.row);
        if (entry.isIntersecting) visible.current.add(index); else visible.current.delete(index);
      }
      redraw();
    }, { rootMargin: "200px" });
    tracks.current.slice(0, rows.length).forEach((canvas) => canvas && watcher.observe(canvas));
    redraw();
    return () => watcher.disconnect();
  }, [rows, redraw]);

  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)"), theme = new MutationObserver(redraw);
    scheme.addEventListener("change", redraw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => { scheme.removeEventListener("change", redraw); theme.disconnect(); };
  }, [redraw]);

  const seqOf = (event, index) => {
    const box = tracks.current[index].getBoundingClientRect();
    const at = Math.floor((event.clientX - box.left + (board.current?.scrollLeft || 0)) / cellPx) + 1;
    return Math.min(Math.max(at, 1), rows[index].count);
  };
  const move = (index, to, { choose = false } = {}) => {
    const strip = rows[index], next = Math.min(Math.max(to, 1), strip.count);
    setRow(index); setSeq(next); reveal(next);
    (choose ? onChoose : onPoint)(strip, next);
  };
  const reveal = (to) => {
    const node = board.current, left = (to - 1) * cellPx, right = left + cellPx;
    if (left < node.scrollLeft) node.scrollLeft = left - 40;
    else if (right > node.scrollLeft + viewPx) node.scrollLeft = right - viewPx + 40;
  };
  const nextFate = (index, from, step) => { // the start of the next run, to the right or to the left
    const strip = rows[index], run = runAt(strip, from) + step;
    if (run < 0) return 1;
    if (run >= strip.runs.length) return strip.count;
    return strip.ends[run] - strip.runs[run][1] + 1;
  };
  const onKeyDown = (event, index) => {
    const from = seq || 1, stride = event.shiftKey ? 10 : 1, ctrl = event.ctrlKey || event.altKey || event.metaKey;
    const goRow = (to) => { move(to, from); tracks.current[to].focus(); };
    if (event.key === "ArrowRight") move(index, ctrl ? nextFate(index, from, 1) : from + stride);
    else if (event.key === "ArrowLeft") move(index, ctrl ? nextFate(index, from, -1) : from - stride);
    else if (event.key === "PageDown") move(index, from + Math.max(10, Math.round(count / 20)));
    else if (event.key === "PageUp") move(index, from - Math.max(10, Math.round(count / 20)));
    else if (event.key === "Home") move(index, 1);
    else if (event.key === "End") move(index, rows[index].count);
    else if (event.key === "ArrowDown") goRow(Math.min(index + 1, rows.length - 1));
    else if (event.key === "ArrowUp") goRow(Math.max(index - 1, 0));
    else if (event.key === "Enter" || event.key === " ") move(index, from, { choose: true });
    else if (event.key === "+" || event.key === "=") setLeastPx(ZOOMS[Math.min(ZOOMS.indexOf(leastPx) + 1, ZOOMS.length - 1)]);
    else if (event.key === "-") setLeastPx(ZOOMS[Math.max(ZOOMS.indexOf(leastPx) - 1, 0)]);
    else return;
    event.preventDefault();
  };
  useLayoutEffect(() => { if (seq) reveal(seq); }, [leastPx]);

  const used = useMemo(() => {
    const inUse = new Set(rows.flatMap((strip) => strip.runs.map(([fate]) => fate)));
    return Object.keys(FATES).filter((fate) => inUse.has(fate));
  }, [rows]);
  const pointed = rows[Math.min(row, rows.length - 1)], fate = seq ? fateAt(pointed, seq) : null;

  return html`<section class="strip-section" aria-label="The log as strips">
    <div class="strip-tools">
      <${Legend} fates=${used} />
      <span class="switch zoom" role="group" aria-label="Zoom">
        ${ZOOMS.map((least) => html`<button key=${least} type="button" aria-pressed=${least === leastPx ? "true" : "false"}
          title=${least ? `At least ${least} pixels a message` : "The whole log at once"}
          onClick=${() => setLeastPx(least)}>${least ? `${least} px` : "Fit"}</button>`)}
      </span>
    </div>
    <div class="strips" ref=${board} onScroll=${redraw}>
      ${rows.map((strip, index) => html`<div key=${strip.compaction_id || "now"} class=${`strip-row${index === row ? " on" : ""}`}>
        <${RowLabel} strip=${strip} range=${ranges.get(strip.compaction_id)} />
        <div class="strip-track" style=${{ width: `${Math.round(Math.max(count * cellPx, viewPx))}px` }}>
          <canvas ref=${(node) => { tracks.current[index] = node; }} data-row=${index} style=${{ width: `${viewPx}px`, height: `${HIGH_PX}px` }}
            role="slider" tabindex=${index === row ? "0" : "-1"} aria-label=${`The log, ${rowName(strip)}`}
            aria-valuemin="1" aria-valuemax=${strip.count} aria-valuenow=${Math.max(1, Math.min(seq || 1, strip.count))}
            aria-valuetext=${describe(strip, Math.max(1, seq))}
            onPointerMove=${(event) => event.pointerType === "mouse" && onPoint(strip, seqOf(event, index))}
            onClick=${(event) => { const at = seqOf(event, index); setRow(index); setSeq(at); onChoose(strip, at); }}
            onFocus=${() => setRow(index)}
            onKeyDown=${(event) => onKeyDown(event, index)}></canvas>
          ${index === row && seq > 0 && seq <= strip.count && html`<i class="strip-cursor" aria-hidden="true" style=${{ left: `${(seq - 1) * cellPx - Math.max(0, 4 - cellPx) / 2}px`, width: `${Math.max(cellPx, 4)}px` }}></i>`}
        </div>
      </div>`)}
    </div>
    <p class="strip-under" aria-live="polite">
      ${under || (fate ? html`<b>#${number(seq)}</b> <${FateChip} fate=${fate} /> <span class="soft">${fateMeaning(fate)}</span>`
        : html`<span class="soft">Point at a message or use the arrow keys: Left and Right move by message (with Ctrl, to the next colour), Up and Down by compaction. Click or press Enter to read a message.</span>`)}
    </p>
  </section>`;
}

function RowLabel({ strip, range }) {
  if (strip.compaction_id === null) {
    return html`<div class="strip-label"><b>now</b><span>${number(strip.count)} messages</span></div>`;
  }
  if (strip.compaction_id === PREVIEW) return html`<div class="strip-label"><span style=${{ gridColumn: "1 / -1" }}><b>preview</b> at ${number(strip.limit_tokens)} tokens</span></div>`;
  return html`<div class="strip-label">
    <b>${strip.ordinal}</b><span>${range && range[1] >= range[0] ? `${number(range[0])}–${number(range[1])}` : range?.isLateDigest ? "late digest" : "older ones"} <em>by ${strip.trigger}</em></span>
  </div>`;
}
