// One server: its tools, resources, prompts and logs.

import { api, path } from "../../lib/api.js";
import { h } from "../../lib/dom.js";
import { schemaForm } from "../../lib/form/index.js";
import { asked } from "../../lib/notify.js";
import { button, code, details, figures } from "../../lib/parts.js";
import { tabs } from "../../lib/tabs.js";
import { texts } from "../../texts.js";
import { stateOf } from "./index.js";

const words = texts.servers;
const listOf = (value) => (Array.isArray(value) ? value : []);

export function serverDetails(server, actions) {
  const changed = listOf(server.changed);
  return h("div", h("h2", server.name),
    figures([[texts.validation.state, stateOf(server)], [words.transport, server.transport]]),
    server.error ? h("p.field-error", server.error) : null,
    changed.length ? h("div.notice", h("p.notice-title", words.changed(changed.length)),
      h("ul", changed.map((each) => h("li", typeof each === "string" ? h("code", each) : code(each)))), h("p", words.changedHint)) : null,
    actions,
    tabs(server.name, [
      { title: words.tools, build: () => some(listOf(server.tools).map(tool), words.noTools) },
      { title: words.resources, build: () => some(listOf(server.resources).map((each) => resource(server, each)), words.noResources) },
      { title: words.prompts, build: () => some(listOf(server.prompts).map((each) => prompt(server, each)), words.noPrompts) },
      { title: words.logs, build: () => logs(listOf(server.logs)) },
    ]));
}

const some = (items, none) => (items.length ? items : h("p.hint", none));

const tool = (each) => (typeof each === "string" ? h("p", h("code", each))
  : details(h("span", h("code", each.name), " ", h("span.hint", each.description || "")), code(each.parameters ?? each.inputSchema ?? each, each.name)));

function resource(server, each) {
  const uri = each.uri || each.uriTemplate || "";
  const place = h("div");
  const read = () => asked(place, () => api.get(`${path`/api/servers/${server.name}/resources/read`}?uri=${encodeURIComponent(uri)}`), (found) =>
    (found.contents || [found]).map((one) => ("text" in one ? code(one.text, uri) : h("p.hint", `${words.binary} ${one.mimeType || one.mime_type || uri}`))));
  return h("div.row", h("div", h("code", uri), " ", each.name || "", h("p.hint", each.description || "")),
    each.uri ? button(words.read, read, { kind: "small", "aria-label": `${words.read} ${uri}` }) : null, place);
}

function prompt(server, each) {
  const args = listOf(each.arguments);
  const form = args.length ? schemaForm({
    type: "object", required: args.filter((one) => one.required).map((one) => one.name),
    properties: Object.fromEntries(args.map((one) => [one.name, { type: "string", description: one.description }])),
  }) : null;
  const place = h("div");
  const get = () => {
    const { value = {}, errors = [] } = form?.read() || {};
    if (errors.length) return;
    asked(place, () => api.post(path`/api/servers/${server.name}/prompts/get`, { name: each.name, arguments: value }), (found) => code(found.messages ?? found, each.name));
  };
  return details(h("span", h("code", each.name), " ", h("span.hint", each.description || "")), form?.element, h("div.actions", button(words.get, get, { kind: "small" })), place);
}

function logs(entries) {
  if (!entries.length) return h("p.hint", words.noLogs);
  const line = (each) => (typeof each === "string" ? each : [each.at || each.time, each.level, each.text ?? each.message ?? each.data].filter(Boolean).map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("  "));
  return code(entries.map(line).join("\n"), words.logs);
}
