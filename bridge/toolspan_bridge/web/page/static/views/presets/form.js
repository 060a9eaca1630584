// The form of one preset, with the tools that it may use as checkboxes, built-in and custom ones apart.

import { field, fill, h, select } from "../../lib/dom.js";
import { texts } from "../../texts.js";

const words = texts.presets;
const BUILTIN = ["web_search", "calculator"];
const DEFAULTS = ["web_search", "calculator"];
const LEVELS = ["none", "low", "medium", "high"];

/** `save(data)` is called with what fits; what the API answers is shown at its field. */
export function presetForm({ preset, tools, save, cancel }) {
  const name = h("input", { type: "text", maxlength: 100, autocomplete: "off" });
  const instructions = h("textarea", { rows: 6 });
  const model = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const level = select(LEVELS, { value: preset?.default_reasoning_level || "medium" });
  name.value = preset?.name || "";
  instructions.value = preset?.instructions || "";
  model.value = preset?.model || "";
  const enabled = new Set(preset?.enabled_tools || DEFAULTS);
  const error = h("div", { role: "alert" });
  const box = (value, label, description) => h("label.check", h("input", { type: "checkbox", name: "tool", value, checked: enabled.has(value) }),
    h("span", label, description ? h("span.hint", ` – ${description}`) : null));
  const custom = tools.filter((each) => !BUILTIN.includes(each.name) && !each.is_builtin);
  const builtin = [...new Set([...BUILTIN, ...tools.filter((each) => each.is_builtin).map((each) => each.name)])];
  const known = new Set([...builtin, ...custom.map((each) => each.name)]);
  const unknown = [...enabled].filter((each) => !known.has(each));
  const toolOf = (wanted) => tools.find((each) => each.name === wanted);

  const tell = (...lines) => fill(error, lines.length ? h("div.notice.notice-error", lines.map((each) => h("p", each))) : null);

  async function submit(event) {
    event.preventDefault();
    tell();
    const chosen = [...element.querySelectorAll("input[name=tool]:checked")].map((each) => each.value);
    if (!name.value.trim()) { tell(words.needName); name.focus(); return; }
    if (!chosen.length) { tell(words.least); return; }
    try {
      await save({ name: name.value.trim(), instructions: instructions.value, model: model.value.trim(), default_reasoning_level: level.value, enabled_tools: chosen });
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      tell(problem.message, ...problem.errors.map((each) => each.detail).filter((each) => each && each !== problem.message));
    }
  }

  const element = h("form.panel", { novalidate: true, onsubmit: submit },
    h("h2", preset ? words.editing(preset.name) : words.new), error,
    field(words.name, name), field(words.instructions, instructions),
    h("div.columns", field(words.model, model, words.modelHint), field(words.reasoning, level)),
    h("h3", words.tools),
    h("div.columns",
      h("fieldset", h("legend", words.builtin), builtin.map((each) => box(each, toolOf(each)?.display_name || each, toolOf(each)?.description || words.descriptions[each]))),
      h("fieldset", h("legend", words.custom), custom.length ? custom.map((each) => box(each.name, each.display_name || each.name, each.description)) : h("p.hint", words.noCustom),
        unknown.map((each) => [box(each, each, null), h("p.field-warning", words.unavailable(each))]))),
    h("div.actions", h("button.primary", { type: "submit" }, texts.save), h("button", { type: "button", onclick: cancel }, texts.cancel)));
  return element;
}
