// Charts of days: bars as SVG, with the same figures as a table for those who cannot see or point at them.

import { compact, number } from "./format.js";
import { html, Table } from "./ui.js";

const WIDTH = 600, HEIGHT = 132, DAY_MS = 86_400_000;

/** The last `count` days up to today (UTC), as "2031-05-01", oldest first. */
export function lastDays(count, today = Date.now()) {
  return Array.from({ length: count }, (_, at) => new Date(today - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10));
}

/** Days with their figures, a day without any as zeros: rows [{day, ...}] as the API lists them. */
export function fillDays(rows, count) {
  const known = new Map(rows.map(row => [row.day, row]));
  return lastDays(count).map(day => known.get(day) || { day });
}

/**
 * Bars, one a day. Args:
 *   rows: The days in their order.
 *   series: [{name, className, value(row)}]; each is drawn over the one before, so the largest comes first.
 *   isStacked: Draw each on top of the one before.
 */
export function DayChart({ label, rows, series, isStacked = false, format = number }) {
  const valuesOf = row => series.map(one => Math.max(0, one.value(row) || 0));
  const topOf = row => (isStacked ? valuesOf(row).reduce((sum, value) => sum + value, 0) : Math.max(...valuesOf(row)));
  const most = Math.max(...rows.map(topOf), 0);
  const step = WIDTH / Math.max(1, rows.length), scale = most ? (HEIGHT - 4) / most : 0;
  const said = series.map(one => `${one.name} ${format(rows.reduce((sum, row) => sum + (one.value(row) || 0), 0))}`).join(", ");
  return html`<figure class="chart">
    <ul class="bar-legend">${series.map(one => html`<li key=${one.name}><i class=${one.className}></i>${one.name}</li>`)}<li class="chart-most">${most ? `up to ${compact(most)} a day` : "none yet"}</li></ul>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`${label}: ${said}`}>
      <line class="chart-base" x1="0" x2=${WIDTH} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5} />
      ${rows.map((row, at) => {
        let below = 0;
        const values = valuesOf(row), title = `${row.day}: ${series.map((one, index) => `${one.name} ${format(values[index])}`).join(", ")}`;
        return html`<g key=${row.day}><title>${title}</title><rect class="chart-day" x=${at * step} y="0" width=${step} height=${HEIGHT} />
          ${values.map((value, index) => {
            const height = value ? Math.max(1.5, value * scale) : 0, y = HEIGHT - height - (isStacked ? below : 0);
            below += isStacked ? height : 0;
            return html`<rect key=${index} class=${`chart-bar ${series[index].className}`} x=${at * step + step * 0.14} y=${y} width=${step * 0.72} height=${height} />`;
          })}</g>`;
      })}
    </svg>
    <figcaption class="chart-ends small soft"><span>${rows[0]?.day}</span><span>${rows[rows.length - 1]?.day}</span></figcaption>
    <details class="chart-table small"><summary>As a table</summary>
      <${Table} caption=${label} keyOf=${row => row.day} rows=${rows.filter(row => topOf(row) > 0).reverse()}
        columns=${[{ title: "Day", cell: row => row.day }, ...series.map(one => ({ title: one.name, isNumber: true, cell: row => format(one.value(row) || 0) }))]} /></details>
  </figure>`;
}
