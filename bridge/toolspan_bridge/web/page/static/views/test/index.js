// The test view: tools that are called by hand, and queries that a model answers with them.

import { fill, h } from "../../lib/dom.js";
import { asked } from "../../lib/notify.js";
import { heading } from "../../lib/parts.js";
import { examples, onChange, toolList } from "../../lib/stores.js";
import { texts } from "../../texts.js";
import { toolCards } from "./cards.js";
import { queryForm } from "./query.js";

const words = texts.test;

export function mount(root, { query, signal }) {
  const form = queryForm({ query, signal });
  const cards = h("div");
  const suggestions = h("div");
  const kept = {};
  const showTools = () => asked(cards, () => toolList(), (tools) => toolCards(tools, kept));
  fill(root, heading(words.title, words.lead),
    h("section", h("h2", words.section), form.element, h("h3", words.examples), suggestions, form.results),
    h("section", h("h2", words.tools), cards));
  const showExamples = () => asked(suggestions, () => examples(), (found) => h("div.examples", found.map((each) =>
    h("button.example", { type: "button", onclick: () => form.use(each) }, each))));
  onChange(["config_reloaded"], showExamples, signal);
  showExamples();
  onChange(["config_reloaded", "tools_changed", "server_changed"], showTools, signal);
  showTools();
}
