// Everything on the page is made here, out of text nodes and attributes. Nothing is ever parsed as HTML, so that a name is a
// name, whatever is in it.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** An element: h("p", {class: "x", onclick: f}, "text", child). */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An SVG element. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Puts `children` in the place of whatever is in `node`. */
export function show(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** Facts as a list of terms; those without a value are left out. */
export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return h("dl", { class: "facts" }, given.map(([term, value]) =>
    h("div", null, h("dt", null, term), h("dd", null, value))));
}

/** Numbers stand at the right; what is minor is left out on a phone. */
function looks(column) {
  return [column.num && "num", column.minor && "minor"].filter(Boolean).join(" ") || null;
}

/** A table. A column is {head, cell, num, minor}; the link of a row is what j and k go to. */
export function table(label, columns, rows, none) {
  if (!rows.length) return h("p", { class: "none" }, none);
  const head = columns.map((column) => h("th", { scope: "col", class: looks(column) }, column.head));
  const body = rows.map((row) => h("tr", null, columns.map((column) =>
    h("td", { class: looks(column) }, column.cell(row)))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", null, h("caption", { class: "unseen" }, label), h("thead", null, h("tr", null, head)), h("tbody", null, body)));
}

/** A heading with what belongs to it. */
export function section(title, ...children) {
  return h("section", { class: "card", "aria-label": title }, h("h2", null, title), children);
}

/** Older and newer parts of a list that has pages. */
export function pager(pagination, go) {
  if (!pagination || (!pagination.hasNext && !pagination.hasPrevious)) return null;
  const turn = (text, to, may) => h("button", { type: "button", disabled: !may, onclick: () => go(to) }, text);
  const from = (pagination.page - 1) * pagination.size + 1;
  const to = Math.min(pagination.page * pagination.size, pagination.total);
  return h("nav", { class: "pager", "aria-label": "Pages" },
    turn("Previous", pagination.page - 1, pagination.hasPrevious),
    h("span", null, `${from} to ${to} of ${pagination.total}`),
    turn("Next", pagination.page + 1, pagination.hasNext));
}

/** What a state is, in words and a colour. */
export function badge(text) {
  const tone = {
    ACTIVE: "good", SUCCESS: "good", SETTLED: "good", VERIFIED: "good", READY: "good", DISBURSED: "good", SEALED: "good", FOLLOWING: "good", SWAPPED: "good", EQUAL: "good",
    PENDING: "wait", UNDER_REVIEW: "wait", APPROVED: "wait", DORMANT: "wait", DISPUTED: "wait", NOT_SEALED: "wait", RUNNING: "wait", BEHIND: "wait",
    FROZEN: "bad", CLOSED: "dull", REJECTED: "bad", RETURNED: "bad", BLOCKED: "bad", PARKED: "bad", FAILED: "bad", DIFFERENT: "bad", INTERRUPTED: "wait", NOT_READY: "bad",
    DEFAULTED: "bad", OVERDUE: "bad", ERASED: "dull", REVERSED: "dull", EXPIRED: "dull",
  }[text] ?? "dull";
  return h("span", { class: `badge ${tone}` }, String(text).toLowerCase().replaceAll("_", " "));
}

/** An id that leads to what it names. */
export function link(href, text, row) {
  const isId = /^[\w.\u2026:-]*\d[\w.\u2026: -]*$/.test(text);
  return h("a", { href, class: isId && "id", "data-row": row }, text);
}
