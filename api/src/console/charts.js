// Charts as SVG, drawn by hand: lines as steps or slopes, a few labelled lines to read them by, and words for who cannot see them.

import { h, s, show } from "./dom.js";

function scale(values, ticks) {
  let low = Math.min(...values, 0);
  let high = Math.max(...values, 0);
  if (low === high) high = low + 1;
  const rough = (high - low) / ticks;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough);
  low = Math.floor(low / step) * step;
  high = Math.ceil(high / step) * step;
  const lines = [];
  for (let at = low; at <= high + step / 2; at += step) lines.push(at);
  return { low, high, lines };
}

/** A line chart. `points` are {label, value}; `read` writes a value. Where the exact values matter they are in `text`. */
export function lineChart(chart) {
  if (chart.points.length < 2) return h("p", { class: "none" }, "Not enough days for a chart yet.");
  const figure = h("figure", { class: "figure" });
  // As many units as there are pixels, so that words in it are as large as others, on a phone that is turned too.
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(figure.clientWidth);
    if (width > 0 && width !== drawn) {
      drawn = width;
      show(figure, draw(chart, width));
    }
  }).observe(figure);
  return figure;
}

function draw({ title, points, read, stepped = false, height = 210 }, WIDTH) {
  const edge = { left: WIDTH < 500 ? 64 : 84, right: 12, top: 10, bottom: 24 };
  const values = points.map((point) => point.value);
  const { low, high, lines } = scale(values, 4);
  const x = (n) => edge.left + (n / (points.length - 1)) * (WIDTH - edge.left - edge.right);
  const y = (value) => edge.top + (1 - (value - low) / (high - low)) * (height - edge.top - edge.bottom);
  const spot = (n) => `${x(n).toFixed(1)},${y(values[n]).toFixed(1)}`;
  let line = `M${spot(0)}`;
  for (let n = 1; n < points.length; n += 1) line += stepped ? `H${x(n).toFixed(1)}V${y(values[n]).toFixed(1)}` : `L${spot(n)}`;
  const floor = y(Math.max(low, 0));
  const area = `${line}L${x(points.length - 1).toFixed(1)},${floor.toFixed(1)}L${x(0).toFixed(1)},${floor.toFixed(1)}Z`;
  const grid = lines.map((value) => [
    s("line", { class: value === 0 ? "zero" : "grid", x1: edge.left, x2: WIDTH - edge.right, y1: y(value), y2: y(value) }),
    s("text", { class: "tick", x: edge.left - 8, y: y(value) + 4, "text-anchor": "end" }, read(value)),
  ]);
  const shown = [0, Math.floor((points.length - 1) / 2), points.length - 1];
  const dates = shown.map((n, at) => s("text", {
    class: "tick", x: x(n), y: height - 6, "text-anchor": ["start", "middle", "end"][at],
  }, points[n].label));
  const marker = s("circle", { class: "marker", r: 3.5, cx: x(points.length - 1), cy: y(values.at(-1)) });
  const rule = s("line", { class: "rule", x1: 0, x2: 0, y1: edge.top, y2: height - edge.bottom, visibility: "hidden" });
  const picture = s("svg", {
    class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": title, tabindex: "0",
  }, grid, dates, s("path", { class: "area", d: area }), s("path", { class: "line", d: line }), rule, marker);
  const note = h("output", { class: "chart-note", "aria-live": "polite" }, `${points.at(-1).label}: ${points.at(-1).text ?? read(values.at(-1))}`);
  let at = points.length - 1;
  const go = (n) => {
    at = Math.min(Math.max(n, 0), points.length - 1);
    marker.setAttribute("cx", x(at));
    marker.setAttribute("cy", y(values[at]));
    rule.setAttribute("x1", x(at));
    rule.setAttribute("x2", x(at));
    rule.setAttribute("visibility", "visible");
    note.textContent = `${points[at].label}: ${points[at].text ?? read(values[at])}`;
  };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * WIDTH;
    go(Math.round(((across - edge.left) / (WIDTH - edge.left - edge.right)) * (points.length - 1)));
  });
  picture.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") go(at - 1);
    else if (event.key === "ArrowRight") go(at + 1);
    else return;
    event.preventDefault();
  });
  return [picture, h("figcaption", null, note)];
}

/** A small line without axes, for what is watched. */
export function spark(title, values) {
  const [width, height] = [240, 48];
  const most = Math.max(...values, 1e-9);
  const x = (n) => (values.length < 2 ? width : (n / (values.length - 1)) * width);
  const y = (value) => height - 2 - (value / most) * (height - 6);
  const line = values.map((value, n) => `${n ? "L" : "M"}${x(n).toFixed(1)},${y(value).toFixed(1)}`).join("");
  return s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, preserveAspectRatio: "none" },
    values.length > 1 && s("path", { class: "area", d: `${line}L${width},${height}L0,${height}Z` }),
    values.length > 1 && s("path", { class: "line", d: line }));
}

/** How far something is, from 0 to 1. */
export function bar(label, done) {
  const share = Math.min(Math.max(done, 0), 1);
  return s("svg", {
    class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", role: "progressbar", "aria-label": label,
    "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(share * 100),
  }, s("rect", { class: "track", width: 100, height: 4 }), s("rect", { class: "done", width: share * 100, height: 4 }));
}
