// Small parts that several views show: badges, JSON, figures, tables.

import { texts } from "../texts.js";
import { h, unique } from "./dom.js";
import { percent, pretty } from "./format.js";
import { toast } from "./notify.js";

/** JSON or text in a box of its own, with a button that copies it. */
export function code(value, label = texts.json, most = 200_000) {
  const text = pretty(value);
  const shown = text.length > most ? `${text.slice(0, most)}\n${texts.cut(text.length - most)}` : text;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast(texts.copied);
    } catch {
      toast(texts.notCopied, "error");
    }
  };
  return h("div.code",
    h("pre", { tabindex: 0, "aria-label": label, role: "region" }, shown),
    h("button.small.copy", { type: "button", "aria-label": `${texts.copy}: ${label}`, onclick: copy }, texts.copy));
}

/** A model's badge: its sign and words; untested models have none. */
export function badge(found) {
  if (!found) return null;
  const rate = found.n ? ` · ${percent(found.rate)} (${found.n})` : "";
  return h(`span.badge.badge-${found.status}`, { title: found.text || "" },
    found.sign ? h("span", { "aria-hidden": "true" }, `${found.sign} `) : null,
    `${texts.badges[found.status] || found.status}${rate}`);
}

/** Figures by their names: [[name, value], …]; those without a value are left out. */
export const figures = (pairs) => h("dl.figures", pairs
  .filter(([, value]) => value !== null && value !== undefined && value !== "")
  .map(([name, value]) => h("div", h("dt", name), h("dd", value))));

/** A table in a box that scrolls by itself: columns [{title, number?}], rows of cells. */
export function table(caption, columns, rows) {
  const cell = (each, at) => h(at === 0 ? "th" : "td", {
    scope: at === 0 ? "row" : null, class: columns[at]?.number ? "number" : "",
  }, each);
  const id = unique("table");
  return h("div.table-box", { tabindex: 0, role: "region", "aria-labelledby": id },
    h("table", h("caption", { id, class: "quiet" }, caption),
      h("thead", h("tr", columns.map((each) => h("th", { scope: "col", class: each.number ? "number" : "" }, each.title)))),
      h("tbody", rows.map((row) => h("tr", row.map(cell))))));
}

export const details = (summary, ...content) => h("details", h("summary", summary), content);

/** The heading of a view, with what it is for. */
export const heading = (title, lead, ...more) =>
  h("div.view-head", h("div", h("h1", title), lead ? h("p.lead", lead) : null), more.length ? h("div.actions", more) : null);

export const button = (text, onclick, props = {}) => {
  const { kind = "", ...rest } = props;
  return h("button", { type: "button", class: kind, onclick, ...rest }, text);
};
