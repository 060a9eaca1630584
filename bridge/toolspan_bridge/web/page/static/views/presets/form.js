// The form of one preset, with the tools that it may use as checkboxes, built-in and custom ones apart.

import { field, fill, h, select } from "../../lib/dom.js";
import { texts } from "../../texts.js";

const words = texts.presets;
const CALCULATOR = "calculator";
const DEFAULTS = ["web_search", CALCULATOR];
const LEVELS = ["none", "low", "medium", "high"];

/**
 * `builtin` are the tools that a provider performs, and the calculator; `tools` those of the servers, `models` names
 * to choose from. `save(data)` is called with what fits; what the API answers is shown.
 */
export function presetForm({ preset, builtin, tools, models, save, cancel }) {
  const name = h("input", { type: "text", maxlength: 100, autocomplete: "off" });
  const instructions = h("textarea", { rows: 6 });
  const known = h("datalist", { id: "preset-models" }, models.map((each) => h("option", { value: each.id })));
  const model = h("input", { type: "text", autocomplete: "off", spellcheck: "false", list: known.id });
  const level = select(LEVELS, { value: preset?.default_reasoning_level || "medium" });
  name.value = preset?.name || "";
  instructions.value = preset?.instructions || "";
  model.value = preset?.model || "";
  const enabled = new Set(preset?.enabled_tools || DEFAULTS);
  const error = h("div", { role: "alert" });
  const custom = new Map([[CALCULATOR, { name: CALCULATOR }], ...tools.map((each) => [each.name, each])]);
  const performed = builtin.filter((each) => !custom.has(each));
  const lost = [...enabled].filter((each) => !custom.has(each) && !performed.includes(each));

  function box(tool) {
    const { label, text } = { label: tool.display_name || tool.name, text: tool.description, ...(tool.description ? {} : words.descriptions[tool.name]) };
    return h("label.check", h("input", { type: "checkbox", name: "tool", value: tool.name, checked: enabled.has(tool.name) }),
      h("span", label, text ? ` - ${text}` : null));
  }

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
      tell(problem.message, ...problem.errors.map((each) => each.detail).filter((each) => each && !problem.message.includes(each)));
    }
  }

  const element = h("form.panel", { novalidate: true, onsubmit: submit },
    h("h2", preset ? words.editing(preset.name) : words.new),
    field(words.name, name), field(words.instructions, instructions),
    h("div.columns", field(words.model, model, words.modelHint), field(words.reasoning, level)), known,
    h("h3", words.tools),
    h("div.columns",
      h("fieldset", h("legend", words.builtin), performed.map((each) => box({ name: each }))),
      h("fieldset", h("legend", words.custom), [...custom.values()].map(box),
        lost.map((each) => [box({ name: each }), h("p.field-warning", words.unavailable(each))]))),
    error, h("div.actions", h("button.primary", { type: "submit" }, texts.save), h("button", { type: "button", onclick: cancel }, texts.cancel)));
  return element;
}
