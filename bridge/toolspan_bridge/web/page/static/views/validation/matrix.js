// The heat map: successes by model and suite, or by the scenarios of one suite; a cell leads to its trials.

import { api } from "../../lib/api.js";
import { empty, field, fill, h, select } from "../../lib/dom.js";
import { percent } from "../../lib/format.js";
import { asked } from "../../lib/notify.js";
import { badge } from "../../lib/parts.js";
import { texts } from "../../texts.js";
import { historyOf } from "./history.js";
import { showTrials } from "./trials.js";

const words = texts.validation;
const MOST_COLUMNS = 100;

export function matrixView(signal) {
  const place = h("div");
  const more = h("div.trials", { tabindex: -1 });
  asked(place, () => api.get("/api/validation/matrix", { signal }), (found) => (found.cells.length
    ? matrix(found, (cell, scenario) => open(more, cell, scenario, signal)) : empty(words.none, words.noneHint)));
  return h("div", place, more);
}

function matrix(found, open) {
  const place = h("div");
  const suite = select([["", words.allSuites], ...found.suites], { value: found.suites.length === 1 ? found.suites[0] : "", onchange: () => show() });
  const show = () => fill(place, heat(found, suite.value, open));
  show();
  return [h("div.filters", field(words.suite, suite)),
    h("p.hint", words.thresholds(percent(found.threshold), found.minimum)), place];
}

function heat({ models, suites, cells }, suite, open) {
  const of = (model, name) => cells.find((each) => each.model === model && each.suite === name) || null;
  const all = suite ? [...new Set(cells.filter((each) => each.suite === suite).flatMap((each) => each.scenarios.map((one) => one.scenario)))] : suites;
  const columns = all.slice(0, MOST_COLUMNS);
  const rows = models.map((model) => [model, suite ? of(model, suite) : null]).filter(([, cell]) => !suite || cell);
  return [h("div.table-box", { tabindex: 0, role: "region", "aria-label": words.matrixCaption }, h("table.heat",
    h("caption.quiet", words.matrixCaption),
    h("thead", h("tr", h("th", { scope: "col" }, words.model), suite ? h("th", { scope: "col" }, words.total) : null, columns.map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", rows.map(([model, cell]) => h("tr", h("th", { scope: "row" }, h("span.heat-model", model), suite ? badge(cell.badge) : null),
      suite ? [square(model, words.total, cell.badge, cell, () => open(cell, "")),
        columns.map((name) => { const one = cell.scenarios.find((each) => each.scenario === name); return square(model, name, one, null, () => open(cell, name)); })]
        : columns.map((name) => { const one = of(model, name); return square(model, name, one?.badge, one, () => open(one, "")); })))))),
  all.length > columns.length ? h("p.hint", words.moreColumns(all.length - columns.length)) : null];
}

/** One cell of the map; `whole` is there where it stands for a suite, whose badge is shown in it. */
function square(model, column, counts, whole, open) {
  if (!counts || !(counts.n + counts.errors)) return h("td.heat-none", "–");
  const rate = counts.n ? percent(counts.rate) : words.onlyErrors;
  const [low, high] = counts.interval || [];
  const notes = [`${counts.n}`, Number.isFinite(low) ? `${percent(low)}–${percent(high)}` : null,
    counts.errors ? words.errors(counts.errors) : null, counts.flaky ? words.flaky : null].filter(Boolean).join(" · ");
  return h("td.heat-cell", { vars: { "--rate": String(counts.rate || 0) } },
    h("button.heat-button", { type: "button", "aria-label": words.cell(model, column, `${rate}, ${notes}${whole ? `, ${texts.badges[whole.badge.status]}` : ""}`), onclick: open },
      h("strong", rate), h("span", notes), whole ? h("span", `${whole.badge.sign} ${texts.badges[whole.badge.status]}`) : null));
}

function open(place, cell, scenario, signal) {
  const title = [cell.model, cell.suite, scenario].filter(Boolean).join(" · ");
  const trials = h("div");
  fill(place, h("h2", title), scenario ? null : historyOf(cell, signal), h("h3", words.trials), trials);
  showTrials(trials, { model: cell.model, suite: cell.suite, ...(scenario ? { scenario } : {}) }, signal);
  place.focus();
  place.scrollIntoView({ block: "start" });
}
