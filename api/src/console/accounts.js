// An account: what it holds, how that went, and every line of its statement.

import { get } from "./api.js";
import { lineChart } from "./charts.js";
import { badge, facts, h, link, pager, section, table } from "./dom.js";
import { amount, count, day, minute, money, time, words } from "./format.js";
import { part } from "./customers.js";

/** The balance of each day of the range that the statement has; the last 30 days when nobody says. */
async function chart(view, number) {
  const query = new URLSearchParams({ size: 100 });
  for (const name of ["from", "to"]) if (view.query.get(name)) query.set(name, view.query.get(name));
  const days = [];
  let history;
  // A range has at most 366 days.
  for (let page = 1; page <= 4; page += 1) {
    query.set("page", page);
    history = await get(`/v1/staff/accounts/${number}/history?${query}`);
    days.unshift(...[...history.balanceHistory].reverse());
    if (!history.pagination.hasNext) break;
  }
  // Where a pixel is wide, a double is exact enough; the words have the exact sum.
  const points = days.map((row) => ({
    label: day(row.date), value: Number(row.ledgerBalance), text: money(row.ledgerBalance, history.currency),
  }));
  const rough = (value) => {
    const whole = amount(BigInt(Math.round(value)), history.currency);
    return whole.replace(/\.\d+$/, "");
  };
  return lineChart({ title: `Balance of ${number} at the end of each day`, points, read: rough, stepped: true });
}

function filter(view, account) {
  const field = (label, name, props) => h("label", null, h("span", null, label),
    h("input", { name, value: view.query.get(name) ?? "", ...props }));
  const way = view.query.get("type") ?? "";
  const kinds = [["", "Both"], ["CREDIT", "In"], ["DEBIT", "Out"]];
  const form = h("form", {
    class: "filter", "aria-label": "Filter the statement",
    onsubmit: (event) => {
      event.preventDefault();
      const given = [...new FormData(form)].filter(([, value]) => value);
      location.hash = `#/accounts/${account.accountNumber}?${new URLSearchParams(given)}`;
    },
  },
  field("From", "from", { type: "date" }), field("To", "to", { type: "date" }),
  h("label", null, h("span", null, "Way"), h("select", { name: "type" }, kinds.map(([value, text]) => h("option", { value, selected: value === way }, text)))),
  field("Text", "q", { type: "search", placeholder: "Narration, reference" }),
  h("button", { type: "submit" }, "Filter"));
  return form;
}

async function statement(view, account) {
  const query = new URLSearchParams(view.query);
  if (!query.has("size")) query.set("size", "25");
  const found = await get(`/v1/staff/accounts/${account.accountNumber}/statement?${query}`);
  const go = (page) => {
    query.set("page", page);
    location.hash = `#/accounts/${account.accountNumber}?${query}`;
  };
  const currency = found.currency;
  return [
    filter(view, account),
    facts([["Opening", money(found.openingBalance, currency)], ["Closing", money(found.closingBalance, currency)], ["Entries", count(found.pagination.total)]]),
    table("Statement", [
      { head: "Date", cell: (row) => link(`#/transactions/${row.transactionId}`, minute(row.transactionDate), true) },
      { head: "Description", cell: (row) => [row.description, row.narration && h("span", { class: "sub" }, row.narration)] },
      { head: "Reference", minor: true, cell: (row) => h("span", { class: "id cut", title: row.reference }, row.reference) },
      { head: "Amount", num: true, cell: (row) => h("span", { class: row.type === "CREDIT" ? "in" : null }, `${row.type === "CREDIT" ? "+" : ""}${amount(row.amount, currency)}`) },
      { head: "Balance", num: true, cell: (row) => amount(row.balance, currency) },
    ], found.transactions, "No entry in this range."),
    pager(found.pagination, go),
  ];
}

/** An account. */
export async function accountPage(view) {
  const account = await get(`/v1/staff/accounts/${view.id}`);
  view.title(account.accountNumber);
  const currency = account.currency;
  const [picture, lines] = await Promise.all([
    part(view, "Balance", () => chart(view, view.id)),
    part(view, "Statement", () => statement(view, account)),
  ]);
  view.show(
    h("div", { class: "head" }, h("h1", { class: "number" }, account.accountNumber), badge(account.accountStatus),
      h("a", { class: "button", href: `#/customers/${account.userId}` }, "Holder"),
      h("a", { class: "button", href: `#/timeline/${account.accountNumber}` }, "Timeline")),
    h("div", { class: "figures" },
      h("div", null, h("span", null, "Available"), h("strong", null, money(account.availableBalance, currency))),
      h("div", null, h("span", null, "Balance"), h("strong", null, money(account.ledgerBalance, currency)))),
    section("Account", facts([
      ["Name", account.accountName],
      ["Product", `${account.productName} (${account.productId})`],
      ["Type", words(account.accountType)],
      ["Opened", time(account.openedAt)],
      ["Last movement", time(account.lastTransactionDate)],
      ["Interest", `${account.interestRate} % a year`],
      ["Minimum", money(account.minimumBalance, currency)],
      ["Overdraft", money(account.overdraftLimit, currency)],
      ["Daily limit", account.dailyLimit === null ? "None" : money(account.dailyLimit, currency)],
      ["Monthly limit", account.monthlyLimit === null ? "None" : money(account.monthlyLimit, currency)],
      ["Holder's other accounts", account.linkedAccounts.map((other, n) => [n ? ", " : "", link(`#/accounts/${other}`, other)])],
    ])),
    picture, lines);
}
