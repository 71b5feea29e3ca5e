// A payment, from both sides, and what the log says of it.

import { get } from "./api.js";
import { badge, facts, h, link, section } from "./dom.js";
import { count, money, short, time, words } from "./format.js";
import { part } from "./customers.js";
import { events } from "./timeline.js";

function party(account, user) {
  const own = /^\d{10}$/.test(account);
  return [own ? link(`#/accounts/${account}`, account, true) : h("span", { class: "id" }, account),
    user && [" ", link(`#/customers/${user}`, "holder")]];
}

/** A payment. */
export async function transactionPage(view) {
  const paid = await get(`/v1/staff/transactions/${view.id}`);
  view.title(paid.transactionId);
  const other = (id) => id && link(`#/transactions/${id}`, short(id));
  const timeline = await part(view, "Timeline", () => events(view, view.id), "AUDIT_READ");
  view.show(
    h("div", { class: "head" }, h("h1", null, words(paid.type)), badge(paid.status),
      h("span", { class: "sum" }, money(paid.amount, paid.currency))),
    section("Transaction", facts([
      ["From", party(paid.sourceAccount, paid.payerId)],
      ["To", party(paid.destinationAccount, paid.payeeId)],
      ["Payee's name", paid.destinationName],
      ["At", [paid.institutionName ?? paid.institution, paid.outsideNumber].filter(Boolean).join(", ")],
      ["Fee", paid.fee ? money(paid.fee, paid.currency) : null],
      ["Narration", paid.narration],
      ["Reference", paid.reference],
      ["Made", time(paid.processedAt)],
      ["Settled", time(paid.settledAt)],
      ["Returned", paid.returnedAt && `${time(paid.returnedAt)} ${paid.returnReason ?? ""}`],
      ["Undoes", other(paid.originalTransactionId)],
      ["Undone by", other(paid.reversedBy)],
      ["Dispute", paid.disputeId && link(`#/timeline/${paid.disputeId}`, short(paid.disputeId))],
      ["Given back", paid.refundedAmount ? money(paid.refundedAmount, paid.currency) : null],
      ["Position", count(paid.position)],
      ["Id", h("span", { class: "id" }, paid.transactionId)],
    ])),
    timeline);
}
