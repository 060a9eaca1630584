// Two runs of the store side by side: which cells changed, and whether by more than chance.

import { api } from "../../lib/api.js";
import { field, fill, h, select } from "../../lib/dom.js";
import { asked } from "../../lib/notify.js";
import { table } from "../../lib/parts.js";
import { percent } from "../../lib/format.js";
import { texts } from "../../texts.js";
import { titleOf } from "./stored.js";

const words = texts.validation;

export function compareView(signal) {
  const place = h("div");
  const result = h("div.result", { "aria-live": "polite" });
  asked(place, () => api.get("/api/validation/stored-runs", { signal }), ({ runs }) => {
    const options = [["", texts.form.choose], ...runs.map((each) => [each.run, titleOf(each)])];
    const [before, after] = [select(options), select(options)];
    if (runs.length > 1) { before.value = runs[1].run; after.value = runs[0].run; }
    const compare = (event) => {
      event.preventDefault();
      if (!before.value || !after.value) { fill(result, h("p.field-error", { role: "alert" }, words.choose)); return; }
      asked(result, () => api.get(`/api/validation/compare?${new URLSearchParams({ before: before.value, after: after.value })}`, { signal }), shown);
    };
    return h("form.panel", { onsubmit: compare }, h("p.hint", words.compareHint),
      h("div.columns", field(words.before, before), field(words.after, after)), h("div.actions", h("button.primary", { type: "submit" }, words.compare)));
  });
  return h("div", place, result);
}

const TONES = { better: "good", worse: "bad" };
const rateOf = (each) => `${percent(each.rate)} (${each.n})`;

function shown({ alpha, cells, only_before: gone, only_now: come }) {
  const changed = cells.filter((each) => each.change !== "same").length;
  const named = (parts) => parts.filter(Boolean).join(" · ");
  return [h("p.outcome", changed ? words.changedCells(changed) : words.sameCells), h("p.hint", words.chance(alpha)),
    table(words.compare, [{ title: words.model }, { title: words.scenario }, { title: words.before, number: true }, { title: words.after, number: true }, { title: words.difference, number: true }, { title: words.p, number: true }, { title: words.change }],
      cells.map((each) => [each.model_id, `${each.suite} · ${each.scenario ?? words.total}`, rateOf(each.before), rateOf(each.now),
        `${each.now.rate > each.before.rate ? "+" : ""}${percent(each.now.rate - each.before.rate)}`, each.p_corrected.toPrecision(2), h("span", { class: TONES[each.change] || "" }, words.changes[each.change] || each.change)])),
    gone.length ? h("p.hint", words.onlyBefore(gone.map(named).join(", "))) : null, come.length ? h("p.hint", words.onlyAfter(come.map(named).join(", "))) : null];
}
