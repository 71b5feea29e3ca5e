// The shell: who is there, where they are, and what the keys do.

import { current, logout, may, onEnd } from "./api.js";
import { h, show } from "./dom.js";
import { place } from "./format.js";
import { loginPage } from "./login.js";
import { accountPage } from "./accounts.js";
import { approvalsPage } from "./approvals.js";
import { customerPage, searchPage } from "./customers.js";
import { healthPage } from "./health.js";
import { logPage, timelinePage } from "./timeline.js";
import { projectionsPage } from "./projections.js";
import { recordPage } from "./records.js";
import { schedulePage } from "./schedule.js";
import { transactionPage } from "./transactions.js";

const THEME = "bursar.console.theme";

/** Places in the menu: address, words, the key after g, and the permission that makes it useful. */
const PLACES = [
  ["approvals", "Approvals", "a"],
  ["search", "Customers", "c", "ACCOUNT_OPS"],
  ["log", "Log", "l", "AUDIT_READ"],
  ["schedule", "Schedule", "s", "OPS_REBUILD"],
  ["projections", "Projections", "p", "OPS_REBUILD"],
  ["health", "Health", "h"],
];

const PAGES = {
  approvals: approvalsPage,
  search: searchPage,
  customers: customerPage,
  accounts: accountPage,
  transactions: transactionPage,
  loans: recordPage("Loan", "loans"),
  closures: recordPage("Closure", "account-closures"),
  disputes: recordPage("Dispute", "disputes"),
  documents: recordPage("Document", "documents"),
  timeline: timelinePage,
  log: logPage,
  schedule: schedulePage,
  projections: projectionsPage,
  health: healthPage,
};

const root = document.getElementById("app");
/** Ends what the page on show does by itself. */
let leave = () => {};
/** Whether g was pressed, and a place is to follow. */
let going = false;

function theme(next) {
  const order = ["auto", "light", "dark"];
  const now = localStorage.getItem(THEME) ?? "auto";
  const chosen = next ?? order[(order.indexOf(now) + 1) % order.length];
  localStorage.setItem(THEME, chosen);
  if (chosen === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", chosen);
  return chosen;
}

function search(text) {
  const wanted = text.trim();
  if (/^(txn|usr|loan|card|mnd|dsp|cls|doc|ses|ben|rec|com)_[0-9a-f]{32}$/.test(wanted) || /^\d{10}$/.test(wanted)) {
    location.hash = place(wanted);
  } else {
    location.hash = `#/search?q=${encodeURIComponent(wanted)}`;
  }
}

function shell() {
  const field = h("input", {
    type: "search", id: "q", name: "q", placeholder: "Name, email, phone, account, transaction, reference", autocomplete: "off",
    spellcheck: "false", "aria-label": "Search", "aria-keyshortcuts": "/",
  });
  const shade = h("button", { type: "button", class: "quiet", id: "theme" }, `Theme: ${theme(localStorage.getItem(THEME) ?? "auto")}`);
  shade.addEventListener("click", () => { shade.textContent = `Theme: ${theme()}`; });
  const leaveBank = h("button", {
    type: "button", class: "quiet", id: "logout", onclick: async () => { await logout(); begin(); },
  }, "Log out");
  const menu = PLACES.map(([to, words, key, needs]) => h("a", {
    href: `#/${to}`, "data-place": to, "aria-keyshortcuts": `g ${key}`, class: needs && !may(needs) ? "without" : null,
    title: needs && !may(needs) ? `Needs ${needs}` : null,
  }, h("span", null, words), h("kbd", null, key)));
  const main = h("main", { id: "main", tabindex: "-1" });
  show(root,
    h("header", { class: "top" },
      h("a", { href: "#/approvals", class: "brand" }, "bursar", h("span", null, "console")),
      h("form", { role: "search", onsubmit: (event) => { event.preventDefault(); search(field.value); field.blur(); } }, field, h("kbd", { class: "hint", "aria-hidden": "true" }, "/")),
      h("div", { class: "who" }, h("span", { id: "who", title: current().permissions.join(", ") }, current().name),
        h("button", { type: "button", class: "quiet", onclick: help, "aria-keyshortcuts": "?" }, "Keys"), shade, leaveBank)),
    h("nav", { class: "menu", "aria-label": "Console" }, menu),
    main);
}

function help() {
  const keys = [
    ["/", "search"], ...PLACES.map(([, words, key]) => [`g ${key}`, words.toLowerCase()]),
    ["j  k", "next and previous row"], ["Enter", "open the row"], ["\u2190 \u2192", "along a chart that has the focus"], ["Esc", "leave a field, close this"], ["?", "these keys"],
  ];
  const dialog = h("dialog", { class: "dialog", "aria-label": "Keys", onclose: () => dialog.remove() },
    h("h2", null, "Keys"),
    h("dl", { class: "keys" }, keys.map(([key, what]) => h("div", null, h("dt", null, key.split(" ").map((one) => one && h("kbd", null, one))), h("dd", null, what)))),
    h("form", { method: "dialog" }, h("button", { type: "submit", autofocus: true }, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}

function refusal(error) {
  const needed = error.problem?.permission;
  const text = error.status === 403 && needed
    ? `You need the permission ${needed} for this. Whoever has STAFF_ADMIN can give it to you.`
    : error.status === 404 ? "The bank knows nothing of that name." : error.message;
  return h("div", { class: "notice", role: "alert" }, h("strong", null, error.status === 403 ? "Not allowed" : error.status === 404 ? "Not found" : "That did not work"),
    h("p", null, text), error.problem?.code && h("p", { class: "code" }, `${error.problem.code}${error.problem.traceId ? `  trace ${error.problem.traceId}` : ""}`));
}

async function route() {
  if (!current()) return begin();
  leave();
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, id] = path.split("/");
  const page = PAGES[name];
  if (!page) {
    location.replace("#/approvals");
    return undefined;
  }
  const main = document.getElementById("main");
  for (const entry of document.querySelectorAll("[data-place]")) {
    const here = entry.dataset.place === name || (entry.dataset.place === "search" && ["customers", "accounts", "transactions"].includes(name)) || (entry.dataset.place === "log" && name === "timeline");
    if (here) entry.setAttribute("aria-current", "page");
    else entry.removeAttribute("aria-current");
  }
  const field = document.getElementById("q");
  if (name !== "search" && document.activeElement !== field) field.value = "";
  let alive = true;
  const stops = [];
  leave = () => {
    alive = false;
    stops.forEach((stop) => stop());
  };
  const view = {
    id: id === undefined ? undefined : decodeURIComponent(id),
    query: new URLSearchParams(query ?? ""),
    title: (text) => { document.title = `${text} \u00b7 bursar console`; },
    alive: () => alive,
    refusal,
    /** Shows the page, unless the reader has gone on. */
    show: (...children) => { if (alive) show(main, ...children); },
    /** Does something now, and again while the page is on show. */
    every: (millis, task) => {
      const timer = setInterval(task, millis);
      stops.push(() => clearInterval(timer));
    },
  };
  view.show(h("p", { class: "none", role: "status" }, "Loading"));
  try {
    await page(view);
  } catch (error) {
    if (!current()) return undefined;
    view.show(refusal(error));
  }
  if (alive && document.activeElement?.id !== "q") main.focus({ preventScroll: true });
  return undefined;
}

function begin(words) {
  leave();
  leave = () => {};
  document.title = "Log in \u00b7 bursar console";
  loginPage(root, words, () => {
    shell();
    route();
  });
}

function row(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1);
  rows[next].focus();
  rows[next].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !current()) return;
  if (going) {
    going = false;
    const to = PLACES.find(([, , key]) => key === event.key);
    if (to) {
      location.hash = `#/${to[0]}`;
      event.preventDefault();
    }
    return;
  }
  const acts = {
    "/": () => document.getElementById("q").focus(), "?": help, g: () => { going = true; setTimeout(() => { going = false; }, 1500); },
    j: () => row(1), k: () => row(-1),
  };
  if (acts[event.key]) {
    acts[event.key]();
    event.preventDefault();
  }
});

onEnd(() => begin("The session has ended. Log in again."));
window.addEventListener("hashchange", route);
theme(localStorage.getItem(THEME) ?? "auto");
if (current()) {
  shell();
  route();
} else {
  begin();
}
