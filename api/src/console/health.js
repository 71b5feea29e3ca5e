// How the server is doing, from the metrics that Prometheus reads, as they were in the last minutes.

import { metrics } from "./api.js";
import { spark } from "./charts.js";
import { h, show } from "./dom.js";
import { count } from "./format.js";

const EVERY = 2000;
const KEPT = 90;

/** Samples of the Prometheus text format: [name, labels as text, value]. */
export function parse(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const found = /^([a-zA-Z_:][\w:]*)(\{.*\})?\s+(\S+)/.exec(line);
    if (found) samples.push([found[1], found[2] ?? "", Number(found[3])]);
  }
  return samples;
}

const sum = (samples, name, has = "") => samples.filter((one) => one[0] === name && one[1].includes(has)).reduce((all, one) => all + one[2], 0);
const most = (samples, name) => samples.filter((one) => one[0] === name).reduce((all, one) => Math.max(all, one[2]), 0);

/** What was between two looks below which a share of a histogram lies. */
function quantile(now, before, name, share) {
  const bounds = new Map();
  const add = (samples, sign) => {
    for (const [metric, labels, value] of samples) {
      if (metric !== `${name}_bucket`) continue;
      const bound = /le="([^"]+)"/.exec(labels)?.[1];
      bounds.set(bound, (bounds.get(bound) ?? 0) + sign * value);
    }
  };
  add(now, 1);
  add(before, -1);
  const order = [...bounds].map(([bound, n]) => [bound === "+Inf" ? Infinity : Number(bound), n]).sort((a, b) => a[0] - b[0]);
  const all = order.at(-1)?.[1] ?? 0;
  if (all <= 0) return 0;
  const found = order.find(([, n]) => n >= all * share);
  return found && found[0] !== Infinity ? found[0] : order.at(-2)?.[0] ?? 0;
}

const millis = (seconds) => seconds ? `${Number((seconds * 1000).toFixed(1))} ms` : "\u2013";
const each = (value) => value >= 10 ? count(Math.round(value)) : String(Number(value.toFixed(1)));

/** What is drawn: words, how it is read off two looks `seconds` apart, and how it is written. */
const CHARTS = [
  ["Requests a second", (now, before, seconds) => (sum(now, "bursar_http_request_seconds_count") - sum(before, "bursar_http_request_seconds_count")) / seconds, each],
  ["99 of 100 requests within", (now, before) => quantile(now, before, "bursar_http_request_seconds", 0.99), millis],
  ["Events a second", (now, before, seconds) => (sum(now, "bursar_journal_events_total") - sum(before, "bursar_journal_events_total")) / seconds, each],
  ["99 of 100 commits within", (now, before) => quantile(now, before, "bursar_journal_commit_seconds", 0.99), millis],
  ["Refusals and failures a second", (now, before, seconds) => (sum(now, "bursar_problems_total") - sum(before, "bursar_problems_total")) / seconds, each],
  ["Server errors a second", (now, before, seconds) => (sum(now, "bursar_http_request_seconds_count", 'status="5') - sum(before, "bursar_http_request_seconds_count", 'status="5')) / seconds, each],
  ["Events that read models are behind", (now) => most(now, "bursar_projection_lag_events"), each],
  ["Database connections in use", (now) => sum(now, "bursar_pool_connections", 'state="open"') - sum(now, "bursar_pool_connections", 'state="idle"'), each],
];

/** Health. */
export async function healthPage(view) {
  view.title("Health");
  const rows = CHARTS.map(() => []);
  let before = parse(await metrics());
  let at = performance.now();
  const frame = h("div", { class: "health" });
  const draw = () => show(frame, CHARTS.map(([title, , write], n) => {
    const last = rows[n].at(-1);
    const text = last === undefined ? "\u2013" : write(last);
    return h("figure", { class: "card" }, h("figcaption", null, title), h("strong", null, text), spark(`${title}: ${text}`, rows[n]));
  }));
  const look = async () => {
    try {
      const now = parse(await metrics());
      const seconds = Math.max((performance.now() - at) / 1000, 0.001);
      at = performance.now();
      CHARTS.forEach(([, read], n) => {
        rows[n].push(Math.max(read(now, before, seconds), 0));
        if (rows[n].length > KEPT) rows[n].shift();
      });
      before = now;
      draw();
    } catch { /* A gap in the line: the next look tells. */ }
  };
  draw();
  view.show(h("div", { class: "head" }, h("h1", null, "Health"), h("span", { class: "count" }, "This server, every two seconds, the last three minutes")), frame);
  view.every(EVERY, look);
}
