// The tools as cards: what each is, a form to call it, and its payload in every format.

import { empty, fill, h } from "../../lib/dom.js";
import { button } from "../../lib/parts.js";
import { tabs } from "../../lib/tabs.js";
import { texts } from "../../texts.js";
import { callForm } from "./call.js";
import { payloads } from "./payloads.js";

const words = texts.test;
const SEARCHED_FROM = 7;

/** `kept` has the cards that are drawn already: that of a tool that is the same stays, with what is typed in it. */
export function toolCards(tools, kept) {
  if (!tools.length) return empty(words.noTools, words.noToolsHint);
  const drawn = new Map(tools.map((each) => [each, cardOf(each, kept.cards)]));
  kept.cards = new Map(tools.map((each) => [JSON.stringify(each), drawn.get(each)]));
  const grid = h("div.cards");
  const filter = h("input", { type: "search", placeholder: words.filter, "aria-label": words.filter, value: kept.filter || "", oninput: () => { kept.filter = filter.value; show(); } });
  const show = () => {
    const wanted = filter.value.toLowerCase();
    const fitting = tools.filter((each) => `${each.name} ${each.display_name || ""} ${each.description || ""}`.toLowerCase().includes(wanted));
    fill(grid, fitting.length ? fitting.map((each) => drawn.get(each)) : empty(words.noMatch));
  };
  show();
  return [tools.length >= SEARCHED_FROM ? h("div.filter", filter) : null, grid];
}

const cardOf = (tool, cards) => cards?.get(JSON.stringify(tool)) || card(tool);

function card(tool) {
  const place = h("div.card-body", { hidden: true });
  const toggle = button(words.try, () => {
    const open = place.hidden;
    if (open && !place.childElementCount) {
      fill(place, tabs(tool.name, [
        { title: words.call, build: () => callForm(tool) },
        { title: words.payloads, build: () => payloads(tool) },
      ]));
    }
    place.hidden = !open;
    element.classList.toggle("open", open);
    toggle.setAttribute("aria-expanded", String(open));
    fill(toggle, open ? texts.close : words.try);
  }, { kind: "small", "aria-expanded": "false", "aria-label": `${words.try}: ${tool.name}` });
  const hints = tool.annotations || {};
  const element = h("article.card", h("div.card-head", h("h3", h("code", tool.name)), toggle),
    tool.display_name && tool.display_name !== tool.name ? h("p.card-title", tool.display_name) : null,
    h("p.card-text", tool.description || ""),
    h("p.tags", h("span.tag", tool.implementation?.type || "mcp"),
      tool.server ? h("span.tag", tool.server) : null,
      tool.category ? h("span.tag", tool.category) : null,
      tool.is_builtin ? h("span.tag", words.builtin) : null,
      hints.readOnlyHint ? h("span.tag", words.readOnly) : null,
      hints.openWorldHint ? h("span.tag", words.openWorld) : null,
      hints.destructiveHint ? h("span.tag.tag-warning", words.destructive) : null),
    place);
  return element;
}
