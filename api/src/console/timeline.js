// What the log says: of one thing, or as it grows.

import { get } from "./api.js";
import { badge, h, link, section } from "./dom.js";
import { count, place, short, time } from "./format.js";

/** A value as text and lists, however deep it is. */
export function tree(value) {
  if (value === null) return h("span", { class: "null" }, "none");
  if (Array.isArray(value)) return value.length ? h("ol", { class: "tree" }, value.map((item) => h("li", null, tree(item)))) : h("span", { class: "null" }, "empty");
  if (typeof value === "object") {
    const members = Object.entries(value);
    if (members.length === 1 && members[0][0] === "sealed" && /^usr_/.test(members[0][1])) {
      return h("span", { class: "sealed", title: `Personal: sealed with the key of ${members[0][1]}` }, "sealed");
    }
    return h("dl", { class: "tree" }, members.map(([name, inner]) => h("div", null, h("dt", null, name), h("dd", null, tree(inner)))));
  }
  const text = String(value);
  if (/^(usr|txn|loan|card|mnd|dsp|cls|doc)_[0-9a-f]{32}$/.test(text)) return link(place(text), short(text));
  return text;
}

/** What the event says beyond its own name. */
function said(event) {
  const keys = Object.keys(event.payload ?? {});
  const only = keys.length === 1 ? event.payload[keys[0]] : null;
  return only && typeof only === "object" && !Array.isArray(only) ? only : event.payload;
}

function actor(text) {
  return /^usr_/.test(text) ? link(`#/customers/${text}`, short(text)) : text || "the bank";
}

/** Events in order, each to be opened. */
export function list(found, named) {
  return h("ol", { class: "events" }, found.map((event) => h("li", null,
    h("details", { open: named && found.length <= 3 },
      h("summary", { "data-row": true },
        h("span", { class: "position", title: "Position in the log" }, count(event.position)),
        h("time", { datetime: event.recordedAt }, time(event.recordedAt)),
        h("strong", null, event.eventType),
        !named && h("span", { class: "id" }, short(event.aggregateId)),
        badge(event.sealed ? "SEALED" : "NOT_SEALED")),
      h("div", { class: "event" },
        h("p", { class: "by" }, "By ", actor(event.actor), event.correlationId && [" on ", h("span", { class: "id" }, event.correlationId)],
          !named && [" about ", link(place(event.aggregateId), event.aggregateId)],
          ` \u00b7 ${event.aggregateType} event ${event.sequence}, version ${event.eventVersion}`),
        tree(said(event)))))));
}

/** The events of one thing. */
export async function events(view, id) {
  const frame = h("div");
  let shown = [];
  const more = async (after) => {
    const found = await get(`/v1/audit/events?aggregateId=${encodeURIComponent(id)}&after=${after}&limit=100`);
    shown = shown.concat(found.events);
    frame.replaceChildren(
      shown.length ? list(shown, true) : h("p", { class: "none" }, "The log has no event of this name."),
      ...(found.nextAfter ? [h("button", { type: "button", onclick: () => more(found.nextAfter) }, "Later events")] : []));
  };
  await more(0);
  return frame;
}

/** The timeline of one thing. */
export async function timelinePage(view) {
  view.title(`Timeline of ${view.id}`);
  const found = await events(view, view.id);
  view.show(h("div", { class: "head" }, h("h1", null, "Timeline"), h("span", { class: "id" }, view.id),
    /^(usr_|\d{10}$|txn_)/.test(view.id) && h("a", { class: "button", href: place(view.id) }, "Open")),
  section("Events", found));
}

/** The end of the log, and what vouches for it. */
export async function logPage(view) {
  view.title("Log");
  const head = await get("/v1/audit/head");
  const size = 50;
  const from = view.query.has("after") ? Number(view.query.get("after")) : Math.max(head.position - size, 0);
  const found = await get(`/v1/audit/events?after=${from}&limit=${size}`);
  const sealed = head.checkpoint?.size ?? 0;
  const jump = h("form", {
    class: "filter", "aria-label": "Go to a position",
    onsubmit: (event) => {
      event.preventDefault();
      const to = Math.max(Number(new FormData(jump).get("position")) - 1, 0);
      location.hash = `#/log?after=${to}`;
    },
  }, h("label", null, h("span", null, "Position"), h("input", { name: "position", type: "number", min: 1, max: head.position, required: true, inputmode: "numeric" })),
  h("button", { type: "submit" }, "Go"));
  view.show(h("h1", null, "Log"),
    h("div", { class: "figures" },
      h("div", null, h("span", null, "Head"), h("strong", { id: "head" }, count(head.position)), h("small", null, time(head.recordedAt))),
      h("div", null, h("span", null, "Last checkpoint"), h("strong", { id: "checkpoint" }, sealed ? count(sealed) : "none"), head.checkpoint && h("small", null, time(head.checkpoint.sealedAt))),
      h("div", null, h("span", null, "Not sealed yet"), h("strong", null, count(head.position - sealed)))),
    head.checkpoint && h("details", { class: "note" }, h("summary", null, "The signed note"), h("pre", { tabindex: "0" }, head.checkpoint.note)),
    section("Events, newest first", jump, list([...found.events].reverse(), false),
      h("nav", { class: "pager", "aria-label": "Pages" },
        h("button", { type: "button", disabled: !found.nextAfter, onclick: () => { location.hash = `#/log?after=${found.nextAfter}`; } }, "Newer"),
        h("span", null, found.events.length ? `${count(found.events.at(-1).position)} to ${count(from + 1)}` : ""),
        h("button", { type: "button", disabled: from === 0, onclick: () => { location.hash = `#/log?after=${Math.max(from - size, 0)}`; } }, "Older"))));
}
