// The servers of the config: their state, and of one what it offers.

import { api, path } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { dialog } from "../../lib/dialog.js";
import { asked, tried } from "../../lib/notify.js";
import { button, heading } from "../../lib/parts.js";
import { onChange } from "../../lib/stores.js";
import { texts } from "../../texts.js";
import { serverDetails } from "./details.js";

const words = texts.servers;

export function mount(root, { rest, signal }) {
  const place = h("div");
  const [name] = rest;
  fill(root, heading(words.title, words.lead, name ? h("a.button", { href: "#/servers" }, words.back) : null), place);
  const show = () => (name
    ? asked(place, () => api.get(path`/api/servers/${name}`, { signal }), (found) => serverDetails(found, actions(found, show)))
    : asked(place, () => api.get("/api/servers", { signal }), ({ servers }) => (servers.length
      ? h("div.cards", servers.map((each) => card(each, show))) : empty(words.none, words.noneHint))));
  onChange(["server_changed", "tools_changed", "config_reloaded"], show, signal);
  return show();
}

const countOf = (value) => (Array.isArray(value) ? value.length : value ?? 0);

export const stateOf = (server) => h(`span.state.state-${server.state}`, h("span.dot", { "aria-hidden": "true" }), words.states[server.state] || server.state);

const card = (server, show) => h("article.card",
  h("div.card-head", h("h2", h("a", { href: `#/servers/${encodeURIComponent(server.name)}` }, server.name)), stateOf(server)),
  server.error ? h("p.field-error", server.error) : null,
  h("p.tags", h("span.tag", server.transport), h("span.tag", `${countOf(server.tools)} ${words.tools.toLowerCase()}`), h("span.tag", `${countOf(server.resources)} ${words.resources.toLowerCase()}`),
    h("span.tag", `${countOf(server.prompts)} ${words.prompts.toLowerCase()}`)),
  server.changed?.length ? h("p.field-warning", words.changed(server.changed.length)) : null,
  actions(server, show));

function actions(server, show) {
  const go = (verb) => () => tried(async () => { await api.post(path`/api/servers/${server.name}/${verb}`); await show(); });
  return h("div.actions",
    server.state === "needs_sign_in" ? button(words.signIn, () => signIn(server), { kind: "small primary" }) : null,
    server.state === "connected" ? button(words.disconnect, go("disconnect"), { kind: "small" }) : button(words.connect, go("connect"), { kind: "small" }));
}

/** The address is opened by a person's click: nothing here goes to another host by itself. */
const signIn = (server) => tried(async () => {
  const { authorization_url: url } = await api.post(path`/api/servers/${server.name}/sign-in`);
  await dialog(words.signIn, (close) => h("div", h("p", words.signInHint), h("p", h("code", url)),
    h("div.actions", h("a.button.primary", { href: url, target: "_blank", rel: "noopener noreferrer", onclick: () => close(true) }, words.openSignIn))));
});
