// What waits for the one who looks, oldest first, and what they can do about it without going elsewhere.

import { current, get, post } from "./api.js";
import { badge, h, link, pager } from "./dom.js";
import { minute, money, place, short, words } from "./format.js";

/** The word on a button. */
function called(action) {
  if (action.outcome) return action.outcome === "WON" ? "Customer is right" : "Customer is wrong";
  return words(action.name);
}

/** Asks for words, where some are needed or wanted, and carries the decision out. */
function decide(view, item, action, done) {
  const notice = h("p", { class: "form-notice", role: "alert" });
  const text = h("textarea", { name: "words", rows: 3, maxlength: 500, required: action.required, id: "words" });
  const go = h("button", { type: "submit", class: ["reject", "erase"].includes(action.name) || action.outcome === "LOST" ? "danger" : "primary" }, called(action));
  // One decision has one key, however often the button is pressed.
  const key = `console-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")}`;
  const form = h("form", {
    method: "dialog",
    onsubmit: async (event) => {
      if (event.submitter?.value === "cancel") return;
      event.preventDefault();
      go.disabled = true;
      notice.textContent = "";
      const body = {};
      if (text.value.trim()) body[action.field] = text.value.trim();
      if (action.outcome) body.outcome = action.outcome;
      try {
        const result = await post(action.path, body, key);
        dialog.close();
        done(`${called(action)}: ${result.message ?? "done"}`);
      } catch (error) {
        notice.textContent = error.problem?.permission ? `You need the permission ${error.problem.permission}.` : error.message;
        go.disabled = false;
      }
    },
  },
  h("h2", null, called(action)),
  h("p", null, item.summary, item.customerName ? `, ${item.customerName}` : ""),
  item.amount !== null && h("p", { class: "sum" }, money(item.amount, item.currency)),
  h("label", null, h("span", null, action.field === "reason" ? "Reason" : action.required ? "Question" : "Note (optional)"), text),
  notice,
  h("div", { class: "row" }, go, h("button", { type: "submit", value: "cancel", formnovalidate: true }, "Cancel")));
  const dialog = h("dialog", { class: "dialog", "aria-label": called(action), onclose: () => dialog.remove() }, form);
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
}

function kind(stage) {
  const [noun, ...state] = stage.split("_");
  return [words(noun), state.join("_")];
}

/** Where there is more about it. */
function about(noun, item) {
  const path = { Loan: "loans", Closure: "closures", Dispute: "disputes", Document: "documents" }[noun];
  return path ? `#/${path}/${item.id}` : `#/customers/${item.userId}`;
}

function entry(view, item, done) {
  const [noun, state] = kind(item.stage);
  const mine = item.previousBy && item.previousBy === current().userId;
  return h("li", { class: "item" },
    h("div", { class: "what" },
      h("div", { class: "line" },
        h("a", { href: about(noun, item), "data-row": true }, `${noun}: ${item.summary.trim()}`), badge(state)),
      h("div", { class: "sub" },
        item.customerName ? link(`#/customers/${item.userId}`, item.customerName) : h("span", { class: "id" }, short(item.userId)),
        item.accountNumber && [" \u00b7 ", link(place(item.accountNumber), item.accountNumber)],
        ` \u00b7 since ${minute(item.submittedAt)}`)),
    h("div", { class: "sum" }, item.amount === null ? "" : money(item.amount, item.currency)),
    h("div", { class: "acts" }, item.actions.length
      ? item.actions.map((action) => h("button", { type: "button", onclick: () => decide(view, item, action, done) }, called(action)))
      : h("span", { class: "sub" }, mine ? "You took the step before: another member of staff decides." : "Waits for somebody else.")));
}

/** The inbox. */
export async function approvalsPage(view) {
  view.title("Approvals");
  const page = view.query.get("page") ?? 1;
  const stage = view.query.get("stage") ?? "";
  const told = h("p", { class: "told", role: "status" });
  const load = async () => {
    const found = await get(`/v1/staff/approvals?page=${page}&size=25${stage ? `&stage=${stage}` : ""}`);
    const go = (to, which = stage) => { location.hash = `#/approvals?page=${to}${which ? `&stage=${which}` : ""}`; };
    const done = async (message) => {
      await load();
      told.textContent = message;
    };
    const choice = h("label", null, h("span", null, "Show"), h("select", { id: "stage", onchange: (event) => go(1, event.target.value) },
      h("option", { value: "" }, "Everything"),
      found.stages.map((one) => h("option", { value: one, selected: one === stage }, kind(one).map((part) => words(part)).join(", ").toLowerCase()))));
    view.show(
      h("div", { class: "head" }, h("h1", null, "Approvals"), h("span", { class: "count", id: "waiting" }, `${found.pagination.total} waiting`), found.stages.length > 1 && choice),
      told,
      !found.stages.length
        ? h("div", { class: "notice" }, h("strong", null, "Nothing to decide"), h("p", null, "Your permissions let you decide nothing that waits for staff. Whoever has STAFF_ADMIN can change that."))
        : found.approvals.length ? h("ol", { class: "inbox" }, found.approvals.map((item) => entry(view, item, done)))
          : h("p", { class: "none" }, "Nothing waits for you."),
      pager(found.pagination, go));
  };
  await load();
}
