// A form made of a JSON Schema: `schemaForm(schema)` gives {element, read(), set(value), show(errors)}.
// What no control fits is written as JSON. `read()` gives {value, errors: [{pointer, detail}]}. A `plain` form is
// for people who know nothing of schemas: titles for names, and no types.

import { texts } from "../../texts.js";
import { fill, h, unique } from "../dom.js";
import { objectControl } from "./nested.js";

const words = texts.form;

export function schemaForm(schema, { value = undefined, label = words.parameters, plain = false } = {}) {
  const root = schema && typeof schema === "object" ? schema : {};
  const context = { root, plain };
  const top = objectControl({ type: "object", ...root }, context, "", value);
  const raw = h("textarea.mono", { rows: 8, spellcheck: "false", "aria-label": words.rawLabel });
  const rawError = h("p.field-error", { id: unique("raw-error"), hidden: true });
  const place = h("div.form-body");
  const toggle = h("button.small.quiet-button", { type: "button", "aria-pressed": "false", onclick: swap }, words.raw);
  let isRaw = false;

  function swap() {
    if (!isRaw) raw.value = JSON.stringify(top.read().value ?? {}, null, 2);
    else {
      const parsed = readRaw();
      if (parsed.errors.length) return;
      top.set(parsed.value);
    }
    isRaw = !isRaw;
    toggle.setAttribute("aria-pressed", String(isRaw));
    fill(place, isRaw ? [raw, rawError] : top.element);
  }

  function readRaw() {
    rawError.hidden = true;
    try {
      return { value: JSON.parse(raw.value || "{}"), errors: [] };
    } catch (error) {
      rawError.hidden = false;
      fill(rawError, words.notJson(error.message));
      return { value: undefined, errors: [{ pointer: "", detail: words.notJson(error.message) }] };
    }
  }

  function read() {
    if (isRaw) return readRaw();
    const found = top.read();
    showErrors(element, found.errors);
    return found;
  }

  fill(place, top.element);
  const element = h("div.schema-form", { role: "group", "aria-label": label },
    h("div.form-head", h("span.form-title", label), toggle), place);
  return { element, read, set: (given) => { top.set(given); raw.value = JSON.stringify(given, null, 2); }, show: (errors) => showErrors(element, errors) };
}

/** Puts each message at the control of its pointer, and the focus on the first. */
function showErrors(element, errors) {
  for (const old of element.querySelectorAll(".field-error[data-pointer]")) {
    old.hidden = true;
    fill(old);
  }
  for (const control of element.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
  let first = null;
  for (const { pointer, detail } of errors) {
    const place = [...element.querySelectorAll(".field-error[data-pointer]")].find((each) => each.dataset.pointer === pointer);
    if (!place) continue;
    place.hidden = false;
    fill(place, detail);
    const control = element.querySelector(`#${CSS.escape(place.dataset.control || "none")}`);
    if (control) control.setAttribute("aria-invalid", "true");
    first ||= control;
  }
  first?.focus();
}
