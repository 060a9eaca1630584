// What is called, by whom and at what cost: figures by tool and model, and the latest, as they come.

import { api } from "../../lib/api.js";
import { empty, field, fill, h, select } from "../../lib/dom.js";
import { follow } from "../../lib/events.js";
import { count, duration, money, percent, when } from "../../lib/format.js";
import { asked } from "../../lib/notify.js";
import { button, figures, heading, table } from "../../lib/parts.js";
import { texts } from "../../texts.js";

const words = texts.activity;
const PAGE = 50;
const REFRESH_MS = 2000;

export async function mount(root, { signal }) {
  const summary = h("div");
  const recent = h("div");
  const live = h("span.state", { role: "status" });
  const hours = select(words.periods, { value: "24", onchange: () => showSummary() });
  const kind = select([["", words.every], ...Object.entries(words.kinds)], { onchange: () => load() });
  let entries = [];
  let next = null;
  let timer = null;
  fill(root, heading(words.title, words.lead, live), h("div.filters", field(words.period, hours)), summary,
    h("section", h("h2", words.recent), h("div.filters", field(words.kind, kind)), recent));

  const showSummary = () => asked(summary, () => api.get(`/api/activity/summary?${new URLSearchParams({ since: since(Number(hours.value)) })}`, { signal }), summaryOf);
  const fits = (each) => !kind.value || each.kind === kind.value;
  const page = async (cursor) => {
    const query = new URLSearchParams({ limit: String(PAGE), ...(kind.value ? { kind: kind.value } : {}), ...(cursor ? { cursor } : {}) });
    return api.get(`/api/activity?${query}`, { signal });
  };
  const drawn = () => (entries.length
    ? [recentOf(entries), next ? button(texts.chat.older, more) : null] : empty(words.none, words.noneHint));
  const load = () => asked(recent, () => page(null), (found) => { entries = found.activity; next = found.next_cursor; return drawn(); });
  const more = () => asked(recent, () => page(next), (found) => { entries = [...entries, ...found.activity]; next = found.next_cursor; return drawn(); });
  signal.addEventListener("abort", () => clearTimeout(timer));

  showSummary();
  await load();
  if (signal.aborted) return;
  follow("/api/activity/events", {
    signal, once: true, after: entries[0]?.id ?? null,
    onState: (now) => { live.className = `state state-${now === "open" ? "connected" : "failed"}`; fill(live, h("span.dot", { "aria-hidden": "true" }), now === "open" ? words.live : texts.talk.reconnecting); },
    onEvent(name, data) {
      if (name !== "activity") return;
      if (fits(data)) {
        entries = [data, ...entries.filter((each) => each.id !== data.id)];
        fill(recent, drawn());
      }
      timer ??= setTimeout(() => { timer = null; showSummary(); }, REFRESH_MS);
    },
  });
}

const since = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();

function summaryOf({ runs, models, tools, requests }) {
  return [
    figures([[words.questions, count(runs.count)], [words.errors, count(runs.errors)], [words.errorRate, runs.count ? percent(runs.errors / runs.count) : null],
      [words.p50, duration(runs.p50_ms)], [words.p99, duration(runs.p99_ms)], [words.tokens, runs.count ? texts.test.tokensOf(runs.input_tokens, runs.output_tokens) : null],
      [words.cost, costOf(runs)]]),
    group(words.byTool, words.tool, tools, false), group(words.byModel, words.model, models, true),
    requests.length ? group(words.byRequest, words.path, requests, false) : null,
  ];
}

const costOf = (each) => `${money(each.usd)}${each.unpriced && each.usd === 0 ? ` ${words.unpriced}` : ""}`;

function group(title, kind, rows, priced) {
  if (!rows.length) return h("section", h("h2", title), h("p.hint", words.none));
  const columns = [words.calls, words.errors, words.p50, words.p90, words.p99, ...(priced ? [words.cost] : [])];
  return h("section", h("h2", title), table(title, [{ title: kind }, ...columns.map((each) => ({ title: each, number: true }))],
    rows.map((each) => [each.name || "–", count(each.count), count(each.errors), duration(each.p50_ms), duration(each.p90_ms), duration(each.p99_ms), ...(priced ? [costOf(each)] : [])])));
}

const nameOf = (each) => (each.kind === "tool" ? [each.server, each.tool] : [each.provider, each.model]).filter(Boolean).join("/") || each.source || "–";
const TONES = { ok: "good", error: "bad", cancelled: "warn" };

const recentOf = (entries) => table(words.recent, [{ title: words.time }, { title: words.kind }, { title: words.what }, { title: words.state }, { title: words.took, number: true }, { title: words.tokens, number: true }, { title: words.cost, number: true }, { title: words.who }],
  entries.map((each) => [when(each.at), words.kinds[each.kind] || each.kind, nameOf(each),
    h("span", { class: TONES[each.status] || "", title: each.error || null }, `${words.states[each.status] || each.status}${each.error_code ? ` (${each.error_code})` : ""}`),
    duration(each.total_ms), each.kind === "run" ? texts.test.tokensOf(each.input_tokens, each.output_tokens) : "", each.kind === "run" ? money(each.usd) : "", [each.key || each.principal, each.source].filter(Boolean).join(" · ")]));
