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

/** The sign of a model: 🔧✓ validated, 🔧⚠️ not. */
export const signOf = (model) => model.badge?.sign || ((model.capabilities || []).includes("function-calling") ? "🔧" : "");

/** Listens to what changes at the server, as long as the page is there. */
export function listen() {
  let wasLost = false;
  follow("/api/events", {
    signal: new AbortController().signal,
    onState(state) {
      changes.dispatchEvent(new CustomEvent("connection", { detail: state }));
      if (state === "open" && wasLost) tellAll();
      wasLost = state === "waiting";
    },
    onEvent(name, data) {
      if (name === "missed") tellAll();
      else tell(name, data);
    },
  });
}

/** What was asked is asked anew: another process may answer now, or events are gone. */
const tellAll = () => ["tools_changed", "server_changed", "models_changed"].forEach((name) => tell(name, {}));

function tell(name, data) {
  if (["config_reloaded", "tools_changed", "server_changed", "models_changed"].includes(name)) kept.clear();
  changes.dispatchEvent(new CustomEvent(name, { detail: data }));
}

/** Tells that models stand otherwise now, after a run of validation. */
export const modelsChanged = () => tell("models_changed", {});

/** Calls `work` when one of the events of `names` comes, until `signal` ends it. */
export function onChange(names, work, signal) {
  for (const name of names) changes.addEventListener(name, (event) => work(event.detail), { signal });
}
