// Two runs side by side: successes, the difference and its interval.

import { api } from "../../lib/api.js";
import { field, fill, h, select } from "../../lib/dom.js";
import { asked } from "../../lib/notify.js";
import { code, table } from "../../lib/parts.js";
import { percent, when } from "../../lib/format.js";
import { texts } from "../../texts.js";

const words = texts.validation;

export function compareView(signal) {
  const place = h("div");
  const result = h("div.result", { "aria-live": "polite" });
  asked(place, () => api.get("/api/validation/runs", { signal }), ({ runs = [] }) => {
    const options = [["", texts.form.choose], ...runs.filter((each) => each.run || each.id).map((each) => [each.run || each.id, `${when(each.started)} · ${(each.models || []).join(", ")} · ${(each.suites || []).join(", ")}`])];
    const [before, after] = [select(options), select(options)];
    const compare = (event) => {
      event.preventDefault();
      if (!before.value || !after.value) { fill(result, h("p.field-error", words.choose)); return; }
      asked(result, () => api.get(`/api/validation/compare?${new URLSearchParams({ before: before.value, after: after.value })}`, { signal }), shown);
    };
    return h("form.panel", { onsubmit: compare }, h("p.hint", words.compareHint),
      h("div.columns", field(words.before, before), field(words.after, after)), h("div.actions", h("button.primary", { type: "submit" }, words.compare)));
  });
  return h("div", place, result);
}

function shown(found) {
  const rows = found.rows || found.scenarios || found.comparisons;
  if (!Array.isArray(rows)) return code(found, words.compare);
  const rate = (each) => (typeof each === "number" ? percent(each) : each ? `${percent(each.rate)} (${each.n})` : "–");
  return table(words.compare, [{ title: words.scenario }, { title: words.before, number: true }, { title: words.after, number: true }, { title: words.difference, number: true }, { title: words.interval, number: true }],
    rows.map((each) => [each.scenario ?? each.name ?? each.tool ?? words.total, rate(each.before), rate(each.after), Number.isFinite(each.difference) ? percent(each.difference) : "–",
      Number.isFinite(each.low) ? `${percent(each.low)} – ${percent(each.high)}` : "–"]));
}
