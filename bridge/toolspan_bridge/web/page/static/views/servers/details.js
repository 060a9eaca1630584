// One server: its tools, resources, prompts and logs, and what of it changed since the lock.

import { api, path } from "../../lib/api.js";
import { h } from "../../lib/dom.js";
import { schemaForm } from "../../lib/form/index.js";
import { asked } from "../../lib/notify.js";
import { button, code, details, figures } from "../../lib/parts.js";
import { tabs } from "../../lib/tabs.js";
import { texts } from "../../texts.js";
import { stateOf } from "./index.js";

const words = texts.servers;

/** `chosen` is the number of the tab that is shown, `choose` is told of another one. */
export function serverDetails(server, actions, { chosen = 0, choose = () => {} } = {}) {
  const { tools, resources, templates, prompts, logs } = server;
  const titled = (title, count) => (count ? `${title} (${count})` : title);
  return h("div", h("h2", server.name),
    figures([[texts.validation.state, stateOf(server)], [words.transport, server.transport]]),
    server.error ? h("p.field-error", server.error) : null,
    server.changed.length ? h("div.notice", h("p.notice-title", words.changed(server.changed.length)),
      server.changed.map(changed), h("p", words.changedHint)) : null,
    actions,
    tabs(server.name, [
      { title: titled(words.tools, tools.length), build: () => some(tools.map(tool), words.noTools) },
      { title: titled(words.resources, resources.length + templates.length), build: () => some([...resources.map((uri) => resource(server, uri)), ...templates.map((uri) => template(server, uri))], words.noResources) },
      { title: titled(words.prompts, prompts.length), build: () => some(prompts.map((each) => prompt(server, each)), words.noPrompts) },
      { title: words.logs, build: () => (logs.length ? code(logs.join("\n"), words.logs) : h("p.hint", words.noLogs)) },
    ], chosen, choose));
}

const some = (items, none) => (items.length ? items : h("p.hint", none));

const changed = ({ tool: name, kind, diff }) => details(h("span", h("code", name), " ", h("span.tag.tag-warning", words.kinds[kind])),
  diff.length ? code(diff.join("\n"), `${words.difference}: ${name}`) : null);

const tool = (each) => details(h("span", h("code", each.name), " ", h("span.hint", each.description || "")),
  h("p.tags", Object.entries(each.annotations).filter(([, value]) => value === true).map(([hint]) => h("span.tag", hint))),
  h("h4", words.parameters), code(each.parameters, each.name),
  each.output_schema ? [h("h4", words.output), code(each.output_schema, `${words.output}: ${each.name}`)] : null);

function resource(server, uri) {
  const place = h("div");
  return h("div.row", h("div", h("code", uri)),
    button(words.read, () => read(place, server, uri), { kind: "small", "aria-label": `${words.read} ${uri}` }), place);
}

const read = (place, server, uri) => asked(place, () => api.get(`${path`/api/servers/${server.name}/resources/read`}?uri=${encodeURIComponent(uri)}`),
  ({ contents }) => contents.map((one) => ("text" in one ? code(one.text, uri) : h("p.hint", `${words.binary} ${one.mimeType || uri}`))));

/** A template, whose variables are filled in by hand. */
function template(server, uri) {
  const place = h("div");
  const address = h("input", { type: "text", "aria-label": words.address(uri), spellcheck: "false", autocomplete: "off" });
  address.value = uri;
  return h("form.row", { onsubmit: (event) => { event.preventDefault(); read(place, server, address.value); } },
    h("div", h("code", uri), " ", h("span.hint", words.template)), address,
    h("button.small", { type: "submit", "aria-label": `${words.read} ${uri}` }, words.read), place);
}

function prompt(server, { name, description, arguments: given }) {
  const names = Object.keys(given);
  const form = names.length ? schemaForm({
    type: "object", required: names.filter((each) => given[each]), additionalProperties: false,
    properties: Object.fromEntries(names.map((each) => [each, { type: "string" }])),
  }) : null;
  const place = h("div");
  const get = () => {
    const { value = {}, errors = [] } = form?.read() || {};
    if (errors.length) return;
    asked(place, () => api.post(path`/api/servers/${server.name}/prompts/get`, { name, arguments: value }), ({ messages }) => messages.map(message));
  };
  return details(h("span", h("code", name), " ", h("span.hint", description)), form?.element, h("div.actions", button(words.get, get, { kind: "small" })), place);
}

const message = ({ role, content }) => h("div", h("h4", role), [content].flat().map((part) =>
  (part.type === "text" ? h("p.said", part.text) : code(part, role))));
