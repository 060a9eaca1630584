// What is called, by whom and at what cost: figures by tool and model, and the latest, as they come.

import { api } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { follow } from "../../lib/events.js";
import { count, duration, money, percent, when } from "../../lib/format.js";
import { asked } from "../../lib/notify.js";
import { figures, heading, table } from "../../lib/parts.js";
import { texts } from "../../texts.js";

const words = texts.activity;
const MOST_SHOWN = 100;
const REFRESH_MS = 2000;

export async function mount(root, { signal }) {
  const summary = h("div");
  const recent = h("div");
  const live = h("span.state", { role: "status" });
  let entries = [];
  let timer = null;
  fill(root, heading(words.title, words.lead, live), summary, h("section", h("h2", words.recent), recent));

  const showSummary = () => asked(summary, () => api.get("/api/activity/summary", { signal }), summaryOf);
  const showRecent = () => fill(recent, entries.length ? recentOf(entries) : empty(words.none, words.noneHint));
  signal.addEventListener("abort", () => clearTimeout(timer));

  showSummary();
  await asked(recent, () => api.get(`/api/activity?limit=${MOST_SHOWN}`, { signal }), (found) => {
    entries = found.activity || found.entries || found.items || [];
    return entries.length ? recentOf(entries) : empty(words.none, words.noneHint);
  });
  if (signal.aborted || recent.querySelector("[role=alert]")) return;
  follow("/api/activity/events", {
    signal,
    onState: (now) => { live.className = `state state-${now === "open" ? "connected" : "failed"}`; fill(live, h("span.dot", { "aria-hidden": "true" }), now === "open" ? words.live : texts.talk.reconnecting); },
    onEvent(name, data) {
      if (name === "missed" || name === "reset") return;
      const key = data.id ?? null;
      entries = [data, ...entries.filter((each) => key === null || each.id !== key)].slice(0, MOST_SHOWN);
      showRecent();
      timer ??= setTimeout(() => { timer = null; showSummary(); }, REFRESH_MS);
    },
  });
}

function summaryOf(found) {
  const total = found.total || found.totals || {};
  const calls = total.calls ?? total.requests;
  return [
    figures([[words.calls, count(calls)], [words.errors, count(total.errors)], [words.errorRate, calls ? percent((total.errors || 0) / calls) : null], [words.p50, duration(total.p50_ms)], [words.p95, duration(total.p95_ms)], [words.cost, money(total.cost_usd ?? total.usd ?? total.cost?.usd)]]),
    h("div.columns", group(words.byTool, words.tool, found.tools || found.by_tool), group(words.byModel, words.model, found.models || found.by_model)),
  ];
}

function group(title, kind, rows) {
  const all = Array.isArray(rows) ? rows : Object.entries(rows || {}).map(([name, each]) => ({ name, ...each }));
  if (!all.length) return h("section", h("h2", title), h("p.hint", words.none));
  return h("section", h("h2", title), table(title, [{ title: kind }, ...[words.calls, words.errors, words.p50, words.p95, words.cost].map((each) => ({ title: each, number: true }))],
    all.map((each) => [each.name ?? each.tool ?? each.model ?? "–", count(each.calls ?? each.requests), count(each.errors), duration(each.p50_ms ?? each.latency_ms?.p50), duration(each.p95_ms ?? each.latency_ms?.p95), money(each.cost_usd ?? each.usd ?? each.cost?.usd)])));
}

const failed = (each) => Boolean(each.error || each.error_code || each.success === false || each.status === "failed" || Number(each.status) >= 400);

const recentOf = (entries) => table(words.recent, [{ title: words.time }, { title: words.kind }, { title: words.what }, { title: words.state }, { title: words.took, number: true }, { title: words.cost, number: true }],
  entries.map((each) => [when(each.at ?? each.time ?? each.timestamp), each.kind || each.type || each.route || "–", each.tool || each.model || each.what || each.name || "–",
    h("span", { class: failed(each) ? "bad" : "good" }, failed(each) ? `${words.failed}${each.error_code ? ` (${each.error_code})` : ""}` : words.ok), duration(each.duration_ms ?? each.execution_time_ms ?? each.latency_ms), money(each.cost_usd ?? each.usd ?? each.cost?.usd)]));
