// What several views ask for: tools, models, examples, health. Asked once, and anew when the server says so.

import { api, every } from "./api.js";
import { follow } from "./events.js";

const kept = new Map();
export const changes = new EventTarget();

function once(key, ask) {
  if (!kept.has(key)) kept.set(key, ask().catch((error) => { kept.delete(key); throw error; }));
  return kept.get(key);
}

export const toolList = () => once("tools", () => every("/api/tools/list", "tools"));
export const modelList = () => once("models", () => api.get("/api/models/list"));
export const examples = () => once("examples", async () => (await api.get("/api/examples")).examples || []);
export const health = () => api.get("/api/health");

/** Listens to what changes at the server, as long as the page is there. */
export function listen() {
  follow("/api/events", {
    signal: new AbortController().signal,
    onState: (state) => changes.dispatchEvent(new CustomEvent("connection", { detail: state })),
    onEvent(name, data) {
      if (["config_reloaded", "tools_changed", "server_changed"].includes(name)) kept.clear();
      changes.dispatchEvent(new CustomEvent(name, { detail: data }));
    },
  });
}

/** Calls `work` when one of the events of `names` comes, until `signal` ends it. */
export function onChange(names, work, signal) {
  for (const name of names) changes.addEventListener(name, (event) => work(event.detail), { signal });
}
