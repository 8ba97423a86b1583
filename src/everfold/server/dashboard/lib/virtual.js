// A list of any length: only visible rows exist, and pages are loaded as they become visible.
//
// Two ways to load. By cursor: `loadPage(cursor, {signal})` gives {items, nextCursor}, from the start on; the list grows
// as it is scrolled. By place: with `count`, `loadPage(first, limit, {signal})` gives the items from a place on; any place
// can be jumped to. Browsers cap how high an element can be (about 16 to 33 million pixels), so a list that would be higher
// is scrolled in proportion: the scroll bar shows the place, and a wheel or a key moves by rows.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.module.js";
import { connection } from "./api.js";
import { Failure, Loading } from "./ui.js";

const MOST_PX = 8_000_000;
const SPARE_ROWS = 8;

/**
 * Args:
 *   count: How many rows there are; undefined loads by cursor.
 *   rowHeight: In pixels, the same for all.
 *   loadPage: See above. A new list begins when `listKey` changes.
 *   renderRow(item, index): What is in a row.
 *   keyOf(item): Tells items apart; `selected` is the key of the chosen one.
 *   onSelect(item, index): A row was chosen by a click or by Enter.
 *   reloadKey: When it changes, what is shown is loaded again, in place.
 *   scrollTo: A place to make visible when it changes (loading by place).
 *   empty: Shown where there is no row. `onCount(count, isAll)` gets how many rows are loaded, and whether that is all.
 */
export function VirtualList(props) {
  const { count, rowHeight, renderRow, keyOf = item => item.id, selected, onSelect, label, pageSize = 100, listKey = "", reloadKey = "", scrollTo, empty = null, className = "", onCount } = props;
  const isPlaced = count !== undefined;
  const box = useRef(), rows = useRef();
  const [top, setTop] = useState(0), [height, setHeight] = useState(600);
  const [active, setActive] = useState(0), [, redraw] = useState(0);
  const [problem, setProblem] = useState(null);
  const latest = useRef({});
  latest.current.props = props;
  const fresh = () => ({ items: [], pages: new Map(), asks: new Map(), cursor: null, isDone: false, isLoading: false, has: false, turn: (latest.current.turn = (latest.current.turn || 0) + 1) });
  if (!rows.current) rows.current = fresh();
  const store = rows.current;

  const total = isPlaced ? count : store.items.length + (store.isDone || !store.has ? 0 : 1);
  const fullPx = total * rowHeight, spacePx = Math.min(fullPx, MOST_PX);
  const ratio = spacePx > height && fullPx > spacePx ? (fullPx - height) / (spacePx - height) : 1;
  const firstPx = top * ratio; // where the top of the box is, in a list that has its full height
  const first = Math.max(0, Math.floor(firstPx / rowHeight) - SPARE_ROWS);
  const last = Math.min(total - 1, Math.ceil((firstPx + height) / rowHeight) + SPARE_ROWS);
  const itemAt = index => isPlaced ? store.pages.get(Math.floor(index / pageSize))?.[index % pageSize] : store.items[index];

  const told = () => latest.current.props.onCount?.(isPlaced ? count : store.items.length, isPlaced || store.isDone);
  async function loadNext() {
    if (store.isLoading || store.isDone) return;
    const turn = store.turn;
    store.isLoading = true;
    try {
      const page = await latest.current.props.loadPage(store.cursor, {});
      if (rows.current.turn !== turn) return;
      Object.assign(store, { items: [...store.items, ...page.items], cursor: page.nextCursor, isDone: !page.nextCursor, has: true });
      setProblem(null);
      told();
    } catch (error) {
      if (rows.current.turn === turn) setProblem(error);
    } finally {
      store.isLoading = false;
      redraw(n => n + 1);
    }
  }
  async function loadAt(page, isAgain = false) {
    if (store.pages.has(page) && !isAgain) return;
    const turn = store.turn, ask = (store.asks.get(page) || 0) + 1; // the latest request counts, in whatever order the answers come
    store.asks.set(page, ask);
    if (!store.pages.has(page)) store.pages.set(page, undefined);
    try {
      const items = await latest.current.props.loadPage(page * pageSize, pageSize, {});
      if (rows.current.turn !== turn || store.asks.get(page) !== ask) return;
      store.pages.set(page, items);
      setProblem(null);
    } catch (error) {
      if (store.pages.get(page) === undefined) store.pages.delete(page);
      if (rows.current.turn === turn) setProblem(error);
    }
    redraw(n => n + 1);
  }
  /** Load the visible rows again; the old ones stay until then. */
  async function reload() {
    if (isPlaced) {
      const wanted = new Set([Math.floor(first / pageSize), Math.floor(Math.max(last, 0) / pageSize)]);
      for (const page of [...store.pages.keys()]) if (!wanted.has(page)) store.pages.delete(page);
      return [...wanted].forEach(page => loadAt(page, true));
    }
    const next = fresh(), wantedCount = Math.min(store.items.length, 10 * pageSize);
    try {
      do {
        const page = await latest.current.props.loadPage(next.cursor, {});
        Object.assign(next, { items: [...next.items, ...page.items], cursor: page.nextCursor, isDone: !page.nextCursor, has: true });
      } while (!next.isDone && next.items.length < wantedCount);
      if (next.turn < rows.current.turn) return; // what is shown was asked for later
      rows.current = next;
      setProblem(null);
      redraw(n => n + 1);
      latest.current.props.onCount?.(next.items.length, next.isDone);
    } catch (error) {
      if (next.turn > rows.current.turn) setProblem(error);
    }
  }
  latest.current.reload = reload;

  const isBegun = useRef(false);
  useLayoutEffect(() => {
    if (isBegun.current) {
      rows.current = fresh();
      setActive(0);
      setProblem(null);
      if (box.current) box.current.scrollTop = 0;
      redraw(n => n + 1);
    }
    isBegun.current = true;
  }, [listKey]);
  const isReloading = useRef(false);
  useEffect(() => {
    if (isReloading.current) latest.current.reload();
    isReloading.current = true;
  }, [reloadKey]);
  useLayoutEffect(() => connection.onBack(() => latest.current.reload()), []);
  useEffect(() => {
    if (problem) return;
    if (!isPlaced) {
      if (!store.has || last >= store.items.length - 1) loadNext();
    } else if (count > 0) {
      for (let page = Math.floor(first / pageSize); page <= Math.floor(last / pageSize); page++) loadAt(page);
    }
  });
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => box.current && setHeight(box.current.clientHeight || 600));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const show = index => {
    const at = index * rowHeight, from = box.current.scrollTop * ratio;
    const wanted = at < from ? at : at + rowHeight > from + height ? at + rowHeight - height : null;
    if (wanted !== null) box.current.scrollTop = wanted / ratio;
  };
  useEffect(() => {
    if (scrollTo == null || !total) return;
    box.current.scrollTop = Math.max(0, scrollTo * rowHeight - height / 3) / ratio;
    setActive(scrollTo);
  }, [scrollTo, listKey, total > 0]);

  const focusRow = index => {
    const to = Math.max(0, Math.min((isPlaced ? total : store.items.length) - 1, index));
    latest.current.wanted = to;
    setActive(to);
    if (!isPlaced && index >= total) box.current.scrollTop = spacePx; // to what is still to be loaded
    else show(to);
    redraw(n => n + 1);
  };
  useLayoutEffect(() => { // a row may have to be loaded before it has the focus, and loses it when its node is moved
    const { wanted, isFocused } = latest.current;
    const to = wanted ?? (isFocused && document.activeElement === document.body ? active : null);
    const row = to === null ? null : box.current.querySelector(`[data-index="${to}"]`);
    if (!row) return;
    latest.current.wanted = null;
    row.focus({ preventScroll: true });
  });
  useLayoutEffect(() => {
    const leave = event => { if (!box.current?.contains(event.target)) Object.assign(latest.current, { isFocused: false, wanted: null }); };
    const kinds = ["mousedown", "focusin"];
    kinds.forEach(kind => document.addEventListener(kind, leave));
    return () => kinds.forEach(kind => document.removeEventListener(kind, leave));
  }, []);
  const press = event => {
    if (event.target.closest("input, select, textarea")) return;
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      focusRow(active + step);
    } else if ((event.key === "Enter" || event.key === " ") && event.target.classList.contains("virtual-row")) {
      event.preventDefault();
      const item = itemAt(active);
      if (item !== undefined) onSelect?.(item, active);
    }
  };
  const turnWheel = event => { // in a list that is scrolled in proportion a wheel would jump over thousands of rows
    if (ratio <= 1) return;
    event.preventDefault();
    box.current.scrollTop += event.deltaY / ratio;
  };
  useLayoutEffect(() => {
    const node = box.current;
    node.addEventListener("wheel", turnWheel, { passive: false });
    return () => node.removeEventListener("wheel", turnWheel);
  }, [ratio]);

  const shown = [];
  const isFar = (active < first || active > last) && itemAt(active) !== undefined; // it stays, so that it keeps the focus
  const tabbed = isFar || (active >= first && active <= last) ? active : Math.max(0, Math.min(first + SPARE_ROWS, total - 1));
  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  if (isFar) indexes.splice(active < first ? 0 : indexes.length, 0, active);
  for (const index of indexes) {
    const item = itemAt(index), y = index * rowHeight - firstPx + top;
    const place = { top: `${y}px`, height: `${rowHeight}px` };
    if (item === undefined) shown.push(html`<div key=${`p${index}`} class="virtual-row pending" style=${place} aria-hidden="true"></div>`);
    else shown.push(html`<div key=${keyOf(item)} class="virtual-row" role="option" data-index=${index} style=${place}
      aria-selected=${String(keyOf(item) === selected)} aria-setsize=${isPlaced || store.isDone ? total : -1} aria-posinset=${index + 1} tabindex=${index === tabbed ? 0 : -1}
      onFocus=${() => { latest.current.isFocused = true; setActive(index); }} onClick=${() => { setActive(index); onSelect?.(item, index); }}>${renderRow(item, index)}</div>`);
  }
  const isEmpty = isPlaced ? count === 0 : store.has && total === 0;
  return html`
    <div class=${`virtual ${className}`} ref=${box} role="listbox" aria-label=${label} aria-busy=${String(store.isLoading)} tabindex=${total ? undefined : -1}
      onScroll=${event => setTop(event.currentTarget.scrollTop)} onKeyDown=${press}>
      ${problem && problem.status !== 0 && html`<${Failure} problem=${problem} retry=${() => { setProblem(null); if (store.has || isPlaced) latest.current.reload(); else loadNext(); }} />`}
      ${!isPlaced && !store.has && !problem && html`<div class="card-pad"><${Loading} lines=${6} /></div>`}
      ${isEmpty && empty}
      <div class="virtual-space" style=${{ height: `${spacePx}px` }}>${shown}</div>
    </div>`;
}
