// Tabs with roving focus (WAI-ARIA Authoring Practices, tabs): arrows, Home and End move between them.

import { fill, h, unique } from "./dom.js";

/**
 * Tabs over `items`: [{title, build}]; each panel is built when it is first shown. `chosen` is told the number of
 * the one that a person chose.
 */
export function tabs(label, items, first = 0, chosen = () => {}) {
  const group = unique("tabs");
  const panel = h("div.tab-panel", { role: "tabpanel", id: `${group}-panel`, tabindex: 0 });
  const built = new Map();
  const buttons = items.map((item, at) => h("button.tab", {
    type: "button", role: "tab", id: `${group}-${at}`, "aria-controls": panel.id,
    onclick: () => { choose(at); chosen(at); },
  }, item.title));
  function choose(at) {
    buttons.forEach((button, each) => {
      button.setAttribute("aria-selected", String(each === at));
      button.tabIndex = each === at ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", buttons[at].id);
    if (!built.has(at)) built.set(at, items[at].build());
    fill(panel, built.get(at));
  }
  const list = h("div.tabs", { role: "tablist", "aria-label": label, onkeydown: move }, buttons);
  function move(event) {
    const at = buttons.indexOf(document.activeElement);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = (steps[event.key] + buttons.length) % buttons.length;
    choose(next);
    chosen(next);
    buttons[next].focus();
  }
  choose(first);
  return h("div.tabbed", list, panel);
}
