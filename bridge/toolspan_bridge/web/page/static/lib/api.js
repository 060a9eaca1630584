// The API: JSON requests with problem details (RFC 9457).

import { texts } from "../texts.js";

const TOKEN = "toolspan.token";

/** What the API answered instead of what was asked: `status`, `code`, `detail`, `errors`. */
export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.error || body.title || texts.api.failed(status));
    this.status = status;
    this.code = body.code || "";
    this.title = body.title || "";
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.body = body;
  }

  /** Whether this part of the API is not there: older servers, or one without it. */
  get absent() {
    return (this.status === 404 && (!this.code || this.code === "not_found") && !this.body.found) || this.status === 405;
  }
}

export function token() {
  try { return sessionStorage.getItem(TOKEN) || ""; } catch { return ""; }
}

export function keepToken(value) {
  try { sessionStorage.setItem(TOKEN, value); } catch { /* Without storage it has to be given again. */ }
}

export function headers(more = {}) {
  const kept = token();
  return { Accept: "application/json", ...(kept ? { Authorization: `Bearer ${kept}` } : {}), ...more };
}

export async function problemOf(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    body = { detail: "" };
  }
  const problem = new Problem(response.status, body);
  if (response.status === 401) window.dispatchEvent(new CustomEvent("toolspan:token-needed"));
  return problem;
}

async function send(method, path, body, { signal, key } = {}) {
  const starts = method === "POST" ? { "Idempotency-Key": key || crypto.randomUUID() } : {};
  const typed = body === undefined ? {} : { "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(path, {
      method,
      signal,
      headers: headers({ ...typed, ...starts }),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: texts.api.unreachable });
  }
  if (!response.ok) throw await problemOf(response);
  if (response.status === 204) return null;
  const type = response.headers.get("Content-Type") || "";
  return type.includes("json") ? response.json() : response.text();
}

export const api = {
  get: (path, options) => send("GET", path, undefined, options),
  post: (path, body = {}, options = {}) => send("POST", path, body, options),
  put: (path, body, options) => send("PUT", path, body, options),
  patch: (path, body, options) => send("PATCH", path, body, options),
  remove: (path, options) => send("DELETE", path, undefined, options),
};

/** A path with its parts encoded: path`/api/servers/${name}`. */
export const path = (parts, ...values) =>
  parts.reduce((all, part, at) => all + part + (at < values.length ? encodeURIComponent(values[at]) : ""), "");

/** Every page of a list: its items under `plural`. At most `most` of them. */
export async function every(address, plural, { signal, most = 2000 } = {}) {
  const items = [];
  let cursor = null;
  do {
    const mark = address.includes("?") ? "&" : "?";
    const page = await api.get(cursor ? `${address}${mark}cursor=${encodeURIComponent(cursor)}` : address, { signal });
    items.push(...(page[plural] || []));
    cursor = page.next_cursor || null;
  } while (cursor && items.length < most);
  return items;
}
