// Runs of validation: started here, followed as they go, and those of before.

import { api } from "../../lib/api.js";
import { field, fill, h } from "../../lib/dom.js";
import { percent, when } from "../../lib/format.js";
import { asked, toast, tried } from "../../lib/notify.js";
import { button, table } from "../../lib/parts.js";
import { modelList, signOf } from "../../lib/stores.js";
import { texts } from "../../texts.js";
import { rateOf, watchRun } from "./follow.js";
import { showStored } from "./stored.js";

const words = texts.validation;

export function runsView(signal, followed) {
  const [form, live, own, stored] = [h("div"), h("div"), h("div"), h("div")];
  const trials = h("div.trials", { tabindex: -1 });
  const showOwn = () => asked(own, () => api.get("/api/validation/runs", { signal }), ({ runs }) => (runs.length
    ? [h("h2", words.ownRuns), table(words.ownRuns, [{ title: words.when }, { title: words.suites }, { title: words.models }, { title: words.state }, { title: words.rate, number: true }, { title: words.follow }], runs.toReversed().map(row))]
    : null));
  const row = (each) => [when(each.started), each.suites.join(", "), each.models.join(", "), words.states[each.state] || each.state,
    percent(rateOf(each)), button(words.follow, () => watch(each.id), { kind: "small", "aria-label": `${words.follow} ${each.id}` })];
  const showAll = () => { showOwn(); showStored(stored, trials, signal); };
  const watch = (id) => {
    history.replaceState(null, "", `#/validation/runs/${encodeURIComponent(id)}`);
    watchRun(live, id, signal, { ended: showAll, trials });
  };
  asked(form, () => api.get("/api/validation/suites?limit=500", { signal }), ({ suites }) => startForm(suites, (id) => { watch(id); showOwn(); }));
  showAll();
  if (followed) watch(followed);
  return h("div", form, live, own, h("h2", words.history), stored, trials);
}

function startForm(suites, started) {
  if (!suites.length) return h("p.hint", words.noSuites);
  const box = (name, value, text, hint, disabled) => h("label.check", h("input", { type: "checkbox", name, value, disabled }), h("span", text, hint ? h("span.hint", ` ${hint}`) : null));
  const trials = h("input", { type: "number", min: 1, max: 100, value: "3" });
  const cost = h("input", { type: "number", min: 0, step: "0.01" });
  const time = h("input", { type: "number", min: 1 });
  const other = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const models = h("div");
  asked(models, () => modelList(), (found) => found.models.map((each) => box("model", each.id, `${each.id} ${signOf(each)}`)));
  const fault = h("p.field-error", { role: "alert", hidden: true });
  const chosen = (name) => [...element.querySelectorAll(`input[name=${name}]:checked`)].map((each) => each.value);
  async function start(event) {
    event.preventDefault();
    const named = other.value.split(",").map((each) => each.trim()).filter(Boolean);
    const body = { suites: chosen("suite"), models: [...chosen("model"), ...named], modes: chosen("mode"), trials: Number(trials.value) || 1 };
    if (cost.value) body.max_cost = Number(cost.value);
    if (time.value) body.max_time_s = Number(time.value);
    fault.hidden = body.suites.length > 0 && body.models.length > 0;
    if (!fault.hidden) { fill(fault, words.needBoth); return; }
    const made = await tried(() => api.post("/api/validation/runs", body));
    if (made) { toast(words.started); started(made.id); }
  }
  const element = h("form.panel", { novalidate: true, onsubmit: start }, h("h2", words.run),
    h("div.columns",
      h("fieldset", h("legend", words.suites), suites.map((each) => box("suite", each.name, each.name, each.problems.length ? each.problems.join("; ") : words.scenarios(each.scenarios), each.problems.length > 0))),
      h("fieldset", h("legend", words.models), models, field(words.otherModels, other, words.otherModelsHint)),
      h("fieldset", h("legend", words.modes), ["native", "prompt"].map((each) => box("mode", each, words.modeNames[each])), h("p.hint", words.modesHint))),
    h("div.columns", field(words.trialsEach, trials), field(words.maxCost, cost), field(words.maxTime, time)),
    fault, h("div.actions", h("button.primary", { type: "submit" }, words.start)));
  return element;
}
