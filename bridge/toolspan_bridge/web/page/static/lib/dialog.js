// Dialogs: the browser's own <dialog>, which keeps the focus inside and closes with Esc.

import { texts } from "../texts.js";
import { fill, h, unique } from "./dom.js";

/**
 * A dialog that is shown until it is answered: `build(close)` gives its content. Resolves with what `close`
 * was given, or with null after Esc. `keep` has it stay on Esc.
 */
export function dialog(title, build, { wide = false, signal = null } = {}) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const id = unique("dialog");
    let answer = null;
    const element = h("dialog", { "aria-labelledby": id, class: wide ? "wide" : "" });
    const close = (value = null) => { answer = value; element.close(); };
    fill(element,
      h("div.dialog-head", h("h2", { id }, title),
        h("button.icon", { type: "button", "aria-label": texts.close, onclick: () => close() }, "×")),
      build(close));
    element.addEventListener("close", () => {
      element.remove();
      if (before?.isConnected) before.focus();
      resolve(answer);
    });
    signal?.addEventListener("abort", () => element.open && element.close(), { once: true });
    document.body.append(element);
    element.showModal();
    element.querySelector("[autofocus]")?.focus();
  });
}

/** A question with two answers; true when it is confirmed. `content` is a text, or an element. */
export const confirmed = (title, content, action) =>
  dialog(title, (close) => h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); close(true); } },
    content instanceof Node ? content : h("p", content),
    h("div.actions",
      h("button", { type: "button", onclick: () => close() }, texts.cancel),
      h("button.danger", { type: "submit", autofocus: true }, action))));
