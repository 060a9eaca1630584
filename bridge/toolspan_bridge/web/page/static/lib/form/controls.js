// Controls of single values: each is {element, read(), set(value)}; read gives undefined where nothing was given.

import { texts } from "../../texts.js";
import { h, select, unique } from "../dom.js";
import { exampleOf, firstOf } from "./schema.js";

const words = texts.form;
const NOTHING = "";

export function textControl(schema) {
  const long = (schema.maxLength ?? 0) > 200 || /text|query|prompt|content|body|expression/i.test(schema.title || "");
  const types = { email: "email", uri: "url", date: "date" };
  const example = exampleOf(schema);
  const control = h(long ? "textarea" : "input", {
    type: long ? null : types[schema.format] || "text",
    rows: long ? 3 : null,
    placeholder: example === undefined ? (schema.format === "date-time" ? "2026-01-31T12:00:00Z" : null) : String(example),
    autocomplete: "off",
  });
  let touched = false;
  control.addEventListener("input", () => { touched = true; });
  const set = (value) => { control.value = value === undefined || value === null ? "" : String(value); touched = value === ""; };
  set(firstOf(schema));
  return {
    element: control, set,
    read() {
      const value = control.value;
      if (control.validity.badInput) return { value: undefined, errors: [words.notFormat(schema.format)] };
      if (value === NOTHING && !touched) return { value: undefined, errors: [] };
      return { value: value === NOTHING ? undefined : value, errors: control.validity.typeMismatch ? [words.notFormat(schema.format)] : faults(value, schema) };
    },
  };
}

function faults(value, schema) {
  const length = [...value].length;
  if (value === NOTHING) return [];
  if (schema.minLength > length) return [words.tooShort(schema.minLength)];
  if (schema.maxLength < length) return [words.tooLong(schema.maxLength)];
  if (schema.pattern && value.length <= 1000 && schema.pattern.length <= 200) {
    try {
      if (!new RegExp(schema.pattern, "u").test(value)) return [words.pattern(schema.pattern)];
    } catch {
      return []; // A pattern that this browser does not read: the server checks it.
    }
  }
  return [];
}

export function numberControl(schema, whole) {
  const control = h("input", {
    type: "text", inputmode: whole ? "numeric" : "decimal", autocomplete: "off",
    placeholder: exampleOf(schema) === undefined ? null : String(exampleOf(schema)),
  });
  const set = (value) => { control.value = value === undefined || value === null ? "" : String(value); };
  set(firstOf(schema));
  return {
    element: control, set,
    read() {
      const text = control.value.trim();
      if (text === NOTHING) return { value: undefined, errors: [] };
      const value = Number(text);
      if (!Number.isFinite(value)) return { value: text, errors: [words.notNumber] };
      if (whole && !Number.isInteger(value)) return { value, errors: [words.notWhole] };
      if (value < schema.minimum) return { value, errors: [words.atLeast(schema.minimum)] };
      if (value > schema.maximum) return { value, errors: [words.atMost(schema.maximum)] };
      if (value <= schema.exclusiveMinimum) return { value, errors: [words.moreThan(schema.exclusiveMinimum)] };
      if (value >= schema.exclusiveMaximum) return { value, errors: [words.lessThan(schema.exclusiveMaximum)] };
      return { value, errors: [] };
    },
  };
}

/** Any number of `choices` ([[value, name], …]), each once, as checkboxes. */
export function manyControl(choices, schema) {
  const boxes = choices.map(([, name]) => h("label.check", h("input", { type: "checkbox" }), h("span", name)));
  const inputs = boxes.map((each) => each.querySelector("input"));
  const element = h("div.nested.many", { role: "group", id: unique("many") }, boxes);
  let touched = false;
  element.addEventListener("change", () => { touched = true; });
  const set = (value) => inputs.forEach((each, at) => { each.checked = Array.isArray(value) && value.some((one) => JSON.stringify(one) === JSON.stringify(choices[at][0])); });
  set(firstOf(schema));
  return {
    element, set,
    read() {
      const value = choices.filter((_, at) => inputs[at].checked).map(([each]) => each);
      if (!value.length && !touched && element.dataset.required !== "true") return { value: undefined, errors: [] };
      if (value.length < schema.minItems) return { value, errors: [words.fewItems(schema.minItems)] };
      if (value.length > schema.maxItems) return { value, errors: [words.manyItems(schema.maxItems)] };
      return { value, errors: [] };
    },
  };
}

/** A choice of one of `choices` ([[value, name], …]); without a default nothing is chosen at first. */
export function enumControl(choices, schema) {
  const values = choices.map(([value]) => value);
  const control = select([[NOTHING, words.choose], ...choices.map(([, name], at) => [String(at), name])]);
  const set = (value) => {
    const at = values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
    control.value = at < 0 ? NOTHING : String(at);
  };
  set("const" in schema ? schema.const : firstOf(schema));
  return { element: control, set, read: () => ({ value: control.value === NOTHING ? undefined : values[Number(control.value)], errors: [] }) };
}

export function jsonControl(schema) {
  const control = h("textarea.mono", { rows: 3, spellcheck: "false", placeholder: words.jsonPlaceholder, id: unique("json") });
  const set = (value) => { control.value = value === undefined ? "" : JSON.stringify(value, null, 2); };
  set(firstOf(schema ?? {}));
  return {
    element: control, set,
    read() {
      if (!control.value.trim()) return { value: undefined, errors: [] };
      try {
        return { value: JSON.parse(control.value), errors: [] };
      } catch (error) {
        return { value: undefined, errors: [words.notJson(error.message)] };
      }
    },
  };
}
