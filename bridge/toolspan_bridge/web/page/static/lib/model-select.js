// The choice of a model, each with its sign: 🔧✓ validated, 🔧⚠️ not.

import { texts } from "../texts.js";
import { fill, h } from "./dom.js";
import { problemBox } from "./notify.js";
import { badge } from "./parts.js";
import { modelList } from "./stores.js";

const KEY = "toolspan.model";

/** {element, value}: a select that remembers what was chosen, the badge beside it, and what could not be listed. */
export function modelSelect({ id, value = null, optional = null, onchange = () => {} } = {}) {
  const control = h("select", { id, onchange: () => { keep(control.value); show(); onchange(control.value); } });
  const sign = h("div.model-badge");
  const notes = h("div");
  const element = h("div.model-select", control, sign, notes);
  let models = [];
  const show = () => fill(sign, badge(models.find((each) => each.id === control.value)?.badge));
  fill(control, h("option", { value: "" }, texts.loading));
  const ready = modelList().then((found) => {
    models = found.models || [];
    fill(control, h("option", { value: "" }, optional ?? (models.length ? texts.model.choose : texts.model.none)),
      models.map((each) => h("option", { value: each.id }, `${each.name || each.id} ${signOf(each)}`)));
    const wanted = value ?? recalled();
    if (wanted && !models.some((each) => each.id === wanted) && value) control.append(h("option", { value: wanted }, wanted));
    if (wanted && [...control.options].some((each) => each.value === wanted)) control.value = wanted;
    const problems = found.problems || [];
    fill(notes, problems.length ? h("details.hint", h("summary", texts.model.problems),
      h("ul", problems.map((each) => h("li", `${each.provider}: ${each.detail}`)))) : null);
    show();
  }).catch((problem) => {
    fill(control, h("option", { value: "" }, texts.model.none));
    fill(notes, problemBox(problem));
  });
  return { element, control, ready, get value() { return control.value; } };
}

function signOf(model) {
  if (model.badge?.sign) return model.badge.sign;
  return (model.capabilities || []).includes("function-calling") ? "🔧" : "";
}

function keep(model) {
  try { if (model) localStorage.setItem(KEY, model); } catch { /* It is chosen anew then. */ }
}

function recalled() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}
