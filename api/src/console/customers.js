// Finding people and payments; and a person with everything they have.

import { get, may } from "./api.js";
import { badge, facts, h, link, pager, section, table } from "./dom.js";
import { day, minute, money, short, time, words } from "./format.js";

/** A part of the page that may be refused without the rest; not asked for without the permission it `needs`. */
export async function part(view, title, load, needs) {
  if (needs && !may(needs)) return section(title, h("p", { class: "none" }, `You need the permission ${needs} to see this.`));
  try {
    return section(title, await load());
  } catch (error) {
    return section(title, view.refusal(error));
  }
}

function people(found, go) {
  return [table("Customers", [
    { head: "Name", cell: (row) => link(`#/customers/${row.userId}`, `${row.firstName} ${row.lastName}`, true) },
    { head: "Status", cell: (row) => badge(row.status) },
    { head: "Email", cell: (row) => row.email },
    { head: "Phone", cell: (row) => row.phoneNumber },
    { head: "Registered", minor: true, cell: (row) => day(row.createdAt) },
    { head: "Id", minor: true, cell: (row) => h("span", { class: "id", title: row.userId }, short(row.userId)) },
  ], found.customers, "Nobody is called that, or begins like that."), pager(found.pagination, go)];
}

/** Payments in a table. */
export function payments(rows) {
  return table("Transactions", [
    { head: "Transaction", cell: (row) => link(`#/transactions/${row.transactionId}`, short(row.transactionId), true) },
    { head: "Type", cell: (row) => words(row.type) },
    { head: "Status", cell: (row) => badge(row.status) },
    { head: "Amount", num: true, cell: (row) => money(row.amount, row.currency) },
    { head: "From", cell: (row) => row.sourceAccount },
    { head: "To", cell: (row) => row.destinationAccount },
    { head: "Made", minor: true, cell: (row) => minute(row.processedAt) },
  ], rows, "No transaction has this id or reference.");
}

/** Results of a search. */
export async function searchPage(view) {
  const q = view.query.get("q") ?? "";
  const page = view.query.get("page") ?? 1;
  view.title(q ? `Search: ${q}` : "Customers");
  const field = document.getElementById("q");
  if (field) field.value = q;
  const wanted = encodeURIComponent(q);
  const go = (to) => { location.hash = `#/search?q=${wanted}&page=${to}`; };
  const customers = await part(view, "Customers", async () => people(await get(`/v1/staff/customers?q=${wanted}&page=${page}`), go));
  const found = q && await part(view, "Transactions", async () => payments((await get(`/v1/staff/transactions?q=${wanted}`)).transactions));
  view.show(h("h1", null, q ? ["Search ", h("q", null, q)] : "Customers"), customers, found);
}

function accounts(list) {
  return table("Accounts", [
    { head: "Account", cell: (row) => link(`#/accounts/${row.accountNumber}`, row.accountNumber, true) },
    { head: "Name", cell: (row) => row.accountName },
    { head: "Type", cell: (row) => words(row.accountType) },
    { head: "Status", cell: (row) => badge(row.accountStatus) },
    { head: "Available", num: true, cell: (row) => money(row.availableBalance, row.currency) },
    { head: "Balance", num: true, cell: (row) => money(row.ledgerBalance, row.currency) },
  ], list.accounts, "No account.");
}

function loans(list) {
  return table("Loans", [
    { head: "Loan", cell: (row) => link(`#/loans/${row.loanId}`, short(row.loanId), true) },
    { head: "Product", cell: (row) => row.productName ?? row.productId },
    { head: "Status", cell: (row) => badge(row.applicationStatus) },
    { head: "Amount", num: true, cell: (row) => money(row.amount, row.currency) },
    { head: "Outstanding", num: true, cell: (row) => money(row.remainingBalance, row.currency) },
  ], list.loans, "No loan.");
}

function cards(list) {
  return table("Cards", [
    { head: "Card", cell: (row) => link(`#/timeline/${row.cardId}`, row.cardNumber, true) },
    { head: "Brand", cell: (row) => words(row.cardBrand) },
    { head: "Kind", cell: (row) => row.cardForm ? words(row.cardForm) : "Other bank's" },
    { head: "Status", cell: (row) => badge(row.cardStatus) },
    { head: "Expires", cell: (row) => row.expiryDate },
  ], list.cards, "No card.");
}

/** A person. */
export async function customerPage(view) {
  const who = await get(`/v1/staff/customers/${view.id}`);
  const name = `${who.firstName} ${who.lastName}`;
  view.title(name);
  const path = `/v1/staff/customers/${view.id}`;
  const parts = await Promise.all([
    part(view, "Accounts", async () => accounts(await get(`${path}/accounts?size=100`))),
    part(view, "Loans", async () => loans(await get(`/v1/staff/loans?userId=${view.id}&size=100`)), "LOAN_REVIEW"),
    part(view, "Cards", async () => cards(await get(`${path}/cards?size=100`)), "CARD_OPS"),
  ]);
  const address = [who.address.street, who.address.city, who.address.state, who.address.postalCode, who.address.country];
  view.show(
    h("div", { class: "head" }, h("h1", null, name), badge(who.status), h("a", { class: "button", href: `#/timeline/${view.id}` }, "Timeline")),
    section("Profile", facts([
      ["Email", [who.email, who.emailVerified ? "" : " (not verified)"]],
      ["Phone", [who.phoneNumber, who.phoneVerified ? "" : " (not verified)"]],
      ["Born", who.dateOfBirth],
      ["Country", who.countryCode],
      ["Identity", words(who.verificationLevel)],
      ["Address", address.filter(Boolean).join(", ")],
      ["Registered", time(who.createdAt)],
      ["Id", h("span", { class: "id" }, who.userId)],
    ])),
    parts);
}
