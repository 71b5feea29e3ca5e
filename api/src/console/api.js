// The one way to the bank: its own interface, with the rights of whoever has logged in, and nothing else.

const KEY = "bursar.console.session";
const DEVICE = "bursar.console.device";
/** Permissions of every customer; whoever has only these is not staff. */
const CUSTOMER = ["READ_ACCOUNT", "WRITE_TRANSACTIONS", "MANAGE_PROFILE"];

/** A refusal: the problem body, and its status. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `The bank answered ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

let session = read();
let refreshing = null;
let ended = () => {};

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}

function keep(next) {
  session = next;
  if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
  else sessionStorage.removeItem(KEY);
}

/** The session, or null. */
export const current = () => session;

/** Whether the session has this permission. */
export const may = (permission) => session?.permissions.includes(permission) ?? false;

/** Says what to do when the session is over. */
export function onEnd(f) {
  ended = f;
}

/** The device that sessions of this browser are bound to. */
function device() {
  let id = localStorage.getItem(DEVICE);
  if (!id) {
    id = `console-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")}`;
    localStorage.setItem(DEVICE, id);
  }
  return id;
}

/** JSON whose long integers stay exact: those that a double cannot hold become text. */
export function exact(text) {
  const isLong = (part) => /^-?\d{16,}$/.test(part);
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (part) => isLong(part) ? `"${part}"` : part));
}

async function send(method, path, body, token, headers = {}) {
  const request = { method, headers: { Accept: "application/json", ...headers }, credentials: "omit", cache: "no-store" };
  if (token) request.headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Refused(0, { title: "The bank does not answer", detail: "The bank does not answer. Check the connection and try again." });
  }
  const text = await answer.text();
  let value = null;
  try {
    value = text ? exact(text) : null;
  } catch {
    value = { detail: text.slice(0, 200) };
  }
  // Not ready is an answer too.
  if (!answer.ok && path !== "/readyz") throw new Refused(answer.status, value ?? {});
  return value;
}

function begin(result, base) {
  const expiresAt = Date.now() + result.expiresIn * 1000;
  keep({ ...base, accessToken: result.accessToken, refreshToken: result.refreshToken, expiresAt });
}

function enter(result) {
  const profile = result.userProfile;
  const permissions = result.permissions;
  if (permissions.every((permission) => CUSTOMER.includes(permission))) {
    // Nothing here is for customers: give the session back.
    send("POST", "/v1/users/token/revoke", {}, result.accessToken).catch(() => {});
    throw new Refused(403, { detail: "This console is for staff: the login has no staff permission." });
  }
  const name = `${profile.firstName} ${profile.lastName}`.trim() || profile.email;
  begin(result, { userId: result.userId, name, email: profile.email, permissions });
}

/** Logs in. Answers null, or what is needed to go on with a second factor. */
export async function login(username, password) {
  const deviceInfo = { deviceId: device(), deviceType: "DESKTOP", model: "Operator console" };
  const result = await send("POST", "/v1/users/password/login", { username, password, deviceInfo });
  if (result.requiresMFA) return { token: result.accessToken };
  enter(result);
  return null;
}

/** Finishes a login with a code. */
export async function verify(pending, code, method) {
  enter(await send("POST", "/v1/users/mfa/verify", { code, method, deviceId: device() }, pending.token));
}

/** Asks for a code by short message. */
export async function resend(pending) {
  return send("POST", "/v1/users/mfa/resend", { deviceId: device() }, pending.token);
}

/** Ends the session, here and at the bank. */
export async function logout() {
  const token = session?.accessToken;
  keep(null);
  if (token) await send("POST", "/v1/users/token/revoke", {}, token).catch(() => {});
}

async function renew() {
  const { refreshToken, ...base } = session;
  const result = await send("POST", "/v1/users/token/refresh", { refreshToken, deviceId: device() });
  begin(result, base);
}

/** The next pair of tokens; those who ask at once share it. */
function refresh() {
  refreshing ??= renew().finally(() => { refreshing = null; });
  return refreshing;
}

function over() {
  keep(null);
  ended();
  return new Refused(401, { detail: "The session has ended. Log in again." });
}

async function call(method, path, body, headers) {
  if (!session) throw over();
  try {
    if (session.expiresAt - Date.now() < 30_000) await refresh();
    try {
      return await send(method, path, body, session.accessToken, headers);
    } catch (error) {
      // The bank's clock may be ahead of this one's.
      if (error.status !== 401 || !session) throw error;
      await refresh();
      return await send(method, path, body, session.accessToken, headers);
    }
  } catch (error) {
    if (error.status === 401) throw over();
    throw error;
  }
}

/** Reads. */
export const get = (path) => call("GET", path);

/** Writes, once: a repeat of the same `key` is answered from the log. */
export const post = (path, body, key) => call("POST", path, body, key ? { "Idempotency-Key": key } : {});

/** Reads what is open to anybody: whether the bank is ready. */
export const open = (path) => send("GET", path, undefined, null);

/** The text of /metrics. */
export async function metrics() {
  const answer = await fetch("/metrics", { credentials: "omit", cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status, {});
  return answer.text();
}
