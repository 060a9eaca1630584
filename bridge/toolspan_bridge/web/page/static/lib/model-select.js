// The choice of a model, each with its sign: 🔧✓ validated, 🔧⚠️ not. One that no provider lists is written.

import { texts } from "../texts.js";
import { fill, h } from "./dom.js";
import { problemBox } from "./notify.js";
import { badge } from "./parts.js";
import { modelList, onChange, signOf } from "./stores.js";

const KEY = "toolspan.model";
const OTHER = "\u0000other";

/** {element, value, choose(model)}: a select that remembers what was chosen, the badge beside it, and what could not be listed. */
export function modelSelect({ id, signal, optional = null, onchange = () => {} }) {
  const control = h("select", { id, onchange: () => changed() });
  const other = h("input", { type: "text", placeholder: texts.model.placeholder, "aria-label": texts.model.otherLabel, hidden: true, autocomplete: "off", spellcheck: "false", onchange: () => changed() });
  const sign = h("div.model-badge");
  const notes = h("div");
  const element = h("div.model-select", control, other, sign, notes);
  let models = [];
  let wanted = recalled();
  const value = () => (control.value === OTHER ? other.value.trim() : control.value);
  const show = () => {
    other.hidden = control.value !== OTHER;
    fill(sign, badge(models.find((each) => each.id === control.value)?.badge));
  };
  function changed() {
    wanted = value();
    keep(wanted);
    show();
    if (control.value === OTHER && !other.value) other.focus();
    onchange(wanted);
  }
  function choose(model) {
    wanted = model;
    const isListed = [...control.options].some((each) => each.value === model);
    control.value = isListed ? model : OTHER;
    if (!isListed) other.value = model;
    show();
  }
  function draw(found) {
    models = found.models;
    const groups = grouped(models);
    fill(control, h("option", { value: "" }, optional ?? (models.length ? texts.model.choose : texts.model.none)),
      [...groups].map(([provider, own]) => h("optgroup", { label: provider }, own.map((each) => h("option", { value: each.id }, `${each.name} ${signOf(each)}`)))),
      h("option", { value: OTHER }, texts.model.other));
    choose(wanted || "");
    fill(notes, found.problems.length ? h("details.hint", h("summary", texts.model.problems),
      h("ul", found.problems.map((each) => h("li", `${each.provider}: ${each.detail}`)))) : null);
  }
  const load = () => modelList().then(draw).catch((problem) => {
    if (problem.status === undefined && problem.name !== "AbortError") throw problem;
    draw({ models: [], problems: [] });
    fill(notes, problemBox(problem, load));
  });
  fill(control, h("option", { value: "" }, texts.loading));
  const ready = load();
  onChange(["config_reloaded", "models_changed"], load, signal);
  return { element, control, ready, choose: (model) => ready.then(() => choose(model)), get value() { return value(); } };
}

const grouped = (models) => models.reduce((all, each) => all.set(each.provider, [...(all.get(each.provider) || []), each]), new Map());

function keep(model) {
  try { if (model) localStorage.setItem(KEY, model); } catch { /* It is chosen anew then. */ }
}

function recalled() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}
