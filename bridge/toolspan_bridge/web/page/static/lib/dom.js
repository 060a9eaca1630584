// Elements of the page. Text is only ever set as text: nothing here reads markup.

const SAFE_LINK = /^(https?:|mailto:|#|\/(?!\/)|blob:)/i;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;

/** `text` with characters that steer a display (controls, overrides of direction) written as escapes. */
export function visible(text) {
  return String(text).replace(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * An element: h("button.primary", {onclick, disabled, "aria-label": …}, children…).
 * Children are nodes, texts, numbers, lists of such; null and false are left out.
 */
export function h(selector, props = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  if (props instanceof Node || typeof props !== "object" || Array.isArray(props) || props === null) {
    children.unshift(props);
  } else {
    for (const [name, value] of Object.entries(props)) set(element, name, value);
  }
  append(element, children);
  return element;
}

function set(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "class") element.className += ` ${value}`;
  else if (name === "vars") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
  else if (name === "value" || name === "checked" || name === "indeterminate") element[name] = value;
  else if (name === "href" && !SAFE_LINK.test(String(value).trim())) element.dataset.refused = "link";
  else if (name === "srcdoc" || name === "style") throw new Error(`${name} is not set by this page`);
  else element.setAttribute(name, value === true ? "" : String(value));
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === true) continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

/** `element` with nothing in it but `children`. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

let count = 0;

/** An id that no other element has. */
export function unique(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}

/** A labelled control: the label above, a hint below. `wide` controls fill the row. */
export function field(label, control, hint = null) {
  control.id ||= unique("field");
  const told = hint ? h("p.hint", { id: `${control.id}-hint` }, hint) : null;
  if (told) control.setAttribute("aria-describedby", told.id);
  return h("div.field", h("label", { for: control.id }, label), control, told);
}

/** A select over `options`: texts, or [value, text] pairs. */
export function select(options, props = {}) {
  const { value, ...rest } = props;
  const element = h("select", rest, options.map((each) => {
    const [key, text] = Array.isArray(each) ? each : [each, each];
    return h("option", { value: key }, text);
  }));
  if (value !== undefined) element.value = value;
  return element;
}

/** What is said where there is nothing: a heading and what to do. */
export function empty(title, ...more) {
  return h("div.empty", h("p.empty-title", title), more.length ? h("p", more) : null);
}
