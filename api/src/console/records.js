// What staff decide about, with everything that was handed in.

import { get } from "./api.js";
import { badge, h, link, section } from "./dom.js";
import { money, time, words } from "./format.js";
import { tree } from "./timeline.js";

/** Members that are sums, in the currency of the whole. */
const SUMS = /(amount|payment|income|balance|fee|interest|paid|limit|principal|value)$/i;

/** The same with sums and moments as people read them. */
function told(value, currency, name = "") {
  if (Array.isArray(value)) return value.map((item) => told(item, currency, name));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, inner]) => [words(key.replace(/([a-z])([A-Z])/g, "$1 $2")), told(inner, currency, key)]));
  if (typeof value === "number" && Number.isInteger(value) && currency && SUMS.test(name)) return money(value, currency);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT.*Z$/.test(value)) return time(value);
  return value;
}

/** The page of one kind of thing, by where the interface has it. */
export function recordPage(noun, path) {
  return async (view) => {
    const found = await get(`/v1/staff/${path}/${encodeURIComponent(view.id)}`);
    view.title(`${noun} ${view.id}`);
    const account = found.accountNumber ?? found.disbursementAccount;
    const state = found.applicationStatus ?? found.disputeStatus ?? found.verificationStatus ?? found.status;
    view.show(
      h("div", { class: "head" }, h("h1", null, noun), state && badge(state), h("span", { class: "id" }, view.id),
        account && h("a", { class: "button", href: `#/accounts/${account}` }, "Account"),
        h("a", { class: "button", href: `#/timeline/${view.id}` }, "Timeline")),
      found.transactionId && h("p", null, "About ", link(`#/transactions/${found.transactionId}`, found.transactionId)),
      section("Everything about it", tree(told(found, found.currency))));
  };
}
