// Controls of objects, lists and alternatives, made of the controls of their parts.

import { texts } from "../../texts.js";
import { fill, h, select, unique } from "../dom.js";
import { enumControl, jsonControl, manyControl, numberControl, textControl } from "./controls.js";
import { branches, choicesOf, kindOf, nullable, resolved, step, titleOf } from "./schema.js";

const words = texts.form;
const DEEPEST = 6;
const MOST_ITEMS = 200;

function controlOf(given, context, pointer, depth) {
  const schema = resolved(given, context.root);
  const kind = depth > DEEPEST ? "json" : kindOf(schema);
  const own = schema && typeof schema === "object" && branches(schema) && nullable(schema) ? resolved(nullable(schema), context.root) : schema;
  if (kind === "string") return textControl(own);
  if (kind === "integer" || kind === "number") return numberControl(own, kind === "integer");
  if (kind === "boolean") return enumControl([[true, context.plain ? words.yes : "true"], [false, context.plain ? words.no : "false"]], own);
  if (kind === "enum") return enumControl(choicesOf(own), own);
  if (kind === "const") return enumControl([[own.const, titleOf(own, JSON.stringify(own.const))]], own);
  if (kind === "object") return objectControl(own, context, pointer, undefined, depth);
  if (kind === "array") {
    const choices = context.plain || own.uniqueItems ? choicesOf(resolved(own.items, context.root)) : null;
    return choices ? manyControl(choices, own) : arrayControl(own, context, pointer, depth);
  }
  if (kind === "choice") return choiceControl(own, context, pointer, depth);
  return jsonControl(own);
}

/** One labelled part: its name, description, control and the place of its messages. */
function part(name, given, context, pointer, required, depth) {
  const schema = resolved(given, context.root);
  const control = controlOf(given, context, pointer, depth);
  const nested = control.element.classList.contains("nested");
  const id = control.element.id ||= unique("param");
  const error = h("p.field-error", { hidden: true, id: `${id}-error`, "data-pointer": pointer, "data-control": id });
  const text = schema?.description ? h("p.hint", { id: `${id}-hint` }, schema.description) : null;
  control.element.setAttribute("aria-describedby", `${text ? `${id}-hint ` : ""}${id}-error`);
  if (required) control.element.setAttribute(nested ? "data-required" : "aria-required", "true");
  const title = schema?.title && schema.title !== name ? schema.title : null;
  const label = context.plain ? [h("span.param-title", title || name), required ? h("span.required", words.required) : null] : [h("span.param-name", name), title ? h("span.param-title", title) : null,
    h("span.param-type", typeWords(schema)), required ? h("span.required", words.required) : null];
  if (nested) control.element.setAttribute("aria-label", name);
  const element = h("div.field.param", nested ? h("div.label", label) : h("label", { for: id }, label), text, control.element, error);
  return { name, required, pointer, control, element };
}

function typeWords(schema) {
  if (!schema || typeof schema !== "object") return "";
  if (choicesOf(schema)) return words.oneOf;
  return [schema.type].flat().filter(Boolean).join(" | ");
}

export function objectControl(schema, context, pointer, value, depth = 0) {
  const required = new Set(schema.required || []);
  const names = Object.keys(schema.properties || {});
  const parts = names.map((name) => part(name, schema.properties[name], context, step(pointer, name), required.has(name), depth + 1));
  const more = schema.additionalProperties;
  const isOpen = depth === 0 ? names.length === 0 && more !== false && more !== undefined : more && typeof more === "object";
  const others = isOpen ? part(words.others, { description: words.othersHint }, context, step(pointer, "…"), false, depth + 1) : null;
  const element = h(depth === 0 ? "div.params" : "div.params.nested", { role: depth === 0 ? null : "group", id: unique("object") },
    parts.map((each) => each.element), others?.element,
    names.length || others ? null : h("p.hint", words.none));
  const set = (given) => {
    for (const each of parts) each.control.set(given?.[each.name]);
    const rest = Object.fromEntries(Object.entries(given || {}).filter(([name]) => !names.includes(name)));
    others?.control.set(Object.keys(rest).length ? rest : undefined);
  };
  if (value !== undefined) set(value);
  function read() {
    const found = {};
    const errors = [];
    for (const each of parts) {
      const one = each.control.read();
      errors.push(...placed(one.errors, each.pointer));
      if (one.value !== undefined) found[each.name] = one.value;
      else if (each.required && !one.errors.length) errors.push({ pointer: each.pointer, detail: words.missing });
    }
    const rest = others?.control.read();
    if (rest) {
      errors.push(...placed(rest.errors, others.pointer));
      if (rest.value && typeof rest.value === "object") Object.assign(found, rest.value);
    }
    const isGiven = Object.keys(found).length > 0 || depth === 0;
    if (!isGiven && element.dataset.required !== "true") return { value: undefined, errors: [] };
    return { value: found, errors };
  }
  return { element, read, set };
}

const placed = (errors, pointer) => errors.map((each) => (typeof each === "string" ? { pointer, detail: each } : each));

function arrayControl(schema, context, pointer, depth) {
  const list = h("div.items");
  const element = h("div.nested.array", { role: "group", id: unique("array") });
  let items = [];
  const add = (value) => {
    if (items.length >= MOST_ITEMS) return;
    const one = part(words.item(items.length + 1), schema.items ?? {}, context, step(pointer, items.length), true, depth + 1);
    if (value !== undefined) one.control.set(value);
    const remove = h("button.icon", { type: "button", "aria-label": words.remove(items.length + 1), onclick: () => { const kept = read().value || []; const at = items.indexOf(one); set(kept.filter((_, each) => each !== at)); button.focus(); } }, "×");
    items.push(one);
    list.append(h("div.item", one.element, remove));
  };
  const button = h("button.small", { type: "button", onclick: () => { add(); items.at(-1).control.element.focus?.(); } }, words.add);
  function set(value) {
    items = [];
    fill(list);
    for (const each of Array.isArray(value) ? value : []) add(each);
  }
  function read() {
    const all = items.map((each) => ({ ...each.control.read(), pointer: each.pointer }));
    const errors = all.flatMap((each) => placed(each.errors, each.pointer));
    const values = all.map((each) => each.value).filter((each) => each !== undefined);
    if (items.length && schema.minItems > items.length) errors.push({ pointer, detail: words.fewItems(schema.minItems) });
    if (schema.maxItems < items.length) errors.push({ pointer, detail: words.manyItems(schema.maxItems) });
    if (!items.length && element.dataset.required !== "true") return { value: undefined, errors };
    return { value: values, errors };
  }
  fill(element, list, button);
  set(schema.default);
  return { element, read, set };
}

function choiceControl(schema, context, pointer, depth) {
  const all = branches(schema).map((each) => resolved(each, context.root));
  const place = h("div.choice-body");
  const names = all.map((each, at) => [String(at), titleOf(each, [each?.type].flat().filter(Boolean).join(" | ") || words.form(at + 1))]);
  const chooser = select([["", words.choose], ...names], { "aria-label": words.chooseForm, onchange: () => choose(chooser.value) });
  let control = null;
  function choose(at) {
    chooser.value = at;
    control = at === "" ? null : controlOf({ ...all[Number(at)] }, context, pointer, depth + 1);
    if (control && !control.element.classList.contains("nested")) control.element.setAttribute("aria-label", words.value);
    fill(place, control?.element);
  }
  const fits = (each, value) => {
    const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    const types = [each?.type].flat();
    if (types[0] && !types.includes(type) && !(type === "number" && types.includes("integer"))) return false;
    return type !== "object" || (each.required || []).every((name) => name in value);
  };
  function set(value) {
    const at = value === undefined ? -1 : all.findIndex((each) => fits(each, value));
    choose(at < 0 ? "" : String(at));
    control?.set(value);
  }
  set(schema.default);
  const element = h("div.nested.choice", { role: "group", id: unique("choice") }, chooser, place);
  return { element, set, read: () => (control ? control.read() : { value: undefined, errors: [] }) };
}
