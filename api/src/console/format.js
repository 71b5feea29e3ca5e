// Numbers and times as people read them. Money is whole minor units: text or integers all the way, never a fraction.

const digits = new Map();

function places(currency) {
  if (!digits.has(currency)) {
    let count = 2;
    try {
      count = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
    } catch { /* Not a code that the browser knows. */ }
    digits.set(currency, count);
  }
  return digits.get(currency);
}

function grouped(whole) {
  return whole.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Minor units as an amount with its currency: 250000, NGN -> "2,500.00 NGN". */
export function money(minor, currency) {
  if (minor === null || minor === undefined) return "";
  return `${amount(minor, currency)} ${currency ?? ""}`.trimEnd();
}

/** The same without the currency. */
export function amount(minor, currency) {
  if (minor === null || minor === undefined) return "";
  const value = BigInt(minor);
  const count = places(currency ?? "");
  const text = (value < 0n ? -value : value).toString().padStart(count + 1, "0");
  const whole = grouped(text.slice(0, text.length - count));
  const sign = value < 0n ? "\u2212" : "";
  return count ? `${sign}${whole}.${text.slice(text.length - count)}` : sign + whole;
}

/** A whole number: 1234567 -> "1,234,567". */
export function count(number) {
  if (number === null || number === undefined) return "";
  const text = String(number);
  return text.startsWith("-") ? `\u2212${grouped(text.slice(1))}` : grouped(text);
}

/** A moment, UTC. */
export function time(text) {
  if (!text) return "";
  return String(text).replace("T", " ").replace(/(:\d\d)(\.\d+)?Z$/, "$1");
}

/** A moment without its seconds. */
export function minute(text) {
  return time(text).slice(0, 16);
}

/** A day. */
export function day(text) {
  return String(text ?? "").slice(0, 10);
}

/** From now: "in 3 h", "5 min ago". */
export function relative(text, now) {
  const seconds = Math.round((Date.parse(text) - Date.parse(now)) / 1000);
  const size = Math.abs(seconds);
  const [unit, each] = size < 90 ? ["s", 1] : size < 5400 ? ["min", 60] : size < 172800 ? ["h", 3600] : ["days", 86400];
  const whole = Math.round(size / each);
  return seconds >= 0 ? `in ${whole} ${unit}` : `${whole} ${unit} ago`;
}

/** SHOUTED_WORDS as words. */
export function words(text) {
  const plain = String(text ?? "").toLowerCase().replaceAll("_", " ").replaceAll("-", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** An id short enough for a table; whole in the title. */
export function short(id) {
  const text = String(id ?? "");
  return text.length > 22 ? `${text.slice(0, text.indexOf("_") + 5)}\u2026${text.slice(-6)}` : text;
}

/** The page about what an id names. */
export function place(id) {
  const text = String(id ?? "");
  if (/^\d{10}$/.test(text)) return `#/accounts/${text}`;
  if (text.startsWith("usr_")) return `#/customers/${text}`;
  if (text.startsWith("txn_")) return `#/transactions/${text}`;
  return `#/timeline/${encodeURIComponent(text)}`;
}
