// The heat map: successes by model and scenario; a cell leads to its trials.

import { api } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { percent, when } from "../../lib/format.js";
import { asked } from "../../lib/notify.js";
import { badge, button, code, details } from "../../lib/parts.js";
import { texts } from "../../texts.js";

const words = texts.validation;

export function matrixView(signal) {
  const place = h("div");
  const trials = h("div.trials", { tabindex: -1 });
  asked(place, () => api.get("/api/validation/matrix", { signal }), (found) => matrix(shapeOf(found), (query, title) => show(trials, query, title, signal)));
  return h("div", place, trials);
}

/** Rows of models with cells by column, of either shape: {rows: [{cells}]} or {models, scenarios, cells}. */
function shapeOf(found) {
  const cells = found.cells || [];
  const columns = (found.columns || found.scenarios || [...new Set(cells.map((each) => each.scenario ?? each.tool ?? each.suite))]).map((each) => each.name ?? each.scenario ?? each);
  const rows = found.rows || (found.models || [...new Set(cells.map((each) => each.model))]).map((each) => {
    const model = each.model ?? each.id ?? each;
    return { ...(typeof each === "object" ? each : {}), model, cells: columns.map((column) => cells.find((cell) => cell.model === model && (cell.scenario ?? cell.tool ?? cell.suite) === column) || null) };
  });
  return { columns, rows };
}

function matrix({ columns, rows }, open) {
  if (!rows.length) return empty(words.none, words.noneHint);
  return h("div.table-box", { tabindex: 0, role: "region", "aria-label": words.matrixCaption }, h("table.heat",
    h("caption.quiet", words.matrixCaption),
    h("thead", h("tr", h("th", { scope: "col" }, words.model), columns.map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", rows.map((row) => h("tr", h("th", { scope: "row" }, row.model, " ", badge(row.badge)),
      columns.map((column, at) => cell(row.model, column, row.cells?.[at] ?? row.cells?.[column], open)))))));
}

function cell(model, column, given, open) {
  const found = given && { ...(given.badge || {}), ...given };
  if (!found || !(found.n ?? found.trials)) return h("td.heat-none", "–");
  const n = found.n ?? found.trials;
  const rate = found.rate ?? found.successes / n;
  const words_ = `${percent(rate)}`;
  const query = { model, ...(found.scenario ? { scenario: column } : {}), ...(found.suite ? { suite: found.suite } : {}) };
  return h("td", { class: "heat-cell", vars: { "--rate": String(rate) } },
    h("button.heat-button", { type: "button", "aria-label": words.cell(model, column, `${words_}, ${n}`), onclick: () => open(query, `${model} · ${column}`) },
      h("strong", words_), h("span", Number.isFinite(found.low) ? `${n} · ${percent(found.low)}–${percent(found.high)}` : String(n))));
}

function show(place, query, title, signal) {
  const address = `/api/validation/trials?${new URLSearchParams({ ...query, limit: "50" })}`;
  const list = h("div");
  fill(place, h("h2", `${words.trials}: ${title}`), list);
  place.focus();
  let all = [];
  const more = async (from) => {
    const page = await api.get(from ? `${address}&cursor=${encodeURIComponent(from)}` : address, { signal });
    all = [...all, ...(page.trials || [])];
    return page;
  };
  const draw = (page) => (all.length ? [all.map(trial), page.next_cursor ? button(texts.chat.older, () => asked(list, () => more(page.next_cursor), draw)) : null] : h("p.hint", words.noTrials));
  asked(list, () => more(null), draw);
}

export const trial = (each) => details(
  h("span", h("span", { class: each.is_error ? "warn" : each.success ? "good" : "bad" }, each.is_error ? `! ${words.error}` : each.success ? `✓ ${words.success}` : `✗ ${words.failure}`), " ", each.scenario || "", " ",
    h("span.hint", [each.model || each.model_id, when(each.timestamp ?? each.at)].filter(Boolean).join(" · "))),
  each.error || each.reason ? h("p.field-error", each.error || each.reason) : null,
  code(each.details ?? each, words.trials));
