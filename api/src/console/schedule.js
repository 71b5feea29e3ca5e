// What the bank will do by itself.

import { get } from "./api.js";
import { h, link, pager, table } from "./dom.js";
import { count, place, relative, short, time } from "./format.js";

/** The schedule. */
export async function schedulePage(view) {
  view.title("Schedule");
  const page = view.query.get("page") ?? 1;
  const task = view.query.get("task") ?? "";
  const found = await get(`/v1/staff/ops/schedule?page=${page}&size=50${task ? `&task=${encodeURIComponent(task)}` : ""}`);
  const go = (to) => { location.hash = `#/schedule?page=${to}${task ? `&task=${encodeURIComponent(task)}` : ""}`; };
  const about = (row) => /^(\d{10}$|[a-z]+_[0-9a-f]{32}$)/.test(row.subject)
    ? link(place(row.subject), short(row.subject), true) : h("span", { class: "id", tabindex: "0", "data-row": true }, row.subject);
  const filter = h("form", {
    class: "filter", "aria-label": "Filter the schedule",
    onsubmit: (event) => {
      event.preventDefault();
      location.hash = `#/schedule?task=${encodeURIComponent(new FormData(filter).get("task"))}`;
    },
  }, h("label", null, h("span", null, "Task"), h("input", { name: "task", type: "search", value: task, placeholder: "payment.clear" })), h("button", { type: "submit" }, "Filter"));
  view.show(h("div", { class: "head" }, h("h1", null, "Schedule"), h("span", { class: "count" }, `${count(found.pagination.total)} pieces of work`), h("span", { class: "count" }, `The bank's clock: ${time(found.now)}`)),
    filter,
    table("Schedule", [
      { head: "Due", cell: (row) => h("span", { class: Date.parse(row.dueAt) < Date.parse(found.now) ? "late" : null, title: time(row.dueAt) }, relative(row.dueAt, found.now)) },
      { head: "At", minor: true, cell: (row) => time(row.dueAt) },
      { head: "Task", cell: (row) => link(`#/schedule?task=${encodeURIComponent(row.task)}`, row.task) },
      { head: "About", cell: about },
      { head: "Tries", num: true, cell: (row) => count(row.attempts) },
      { head: "Last error", cell: (row) => row.lastError ?? "" },
    ], found.work, "Nothing is planned."),
    pager(found.pagination, go));
}
