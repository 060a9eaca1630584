// The servers of the config: their state, and of one what it offers.

import { api, path } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { dialog } from "../../lib/dialog.js";
import { asked, tried } from "../../lib/notify.js";
import { button, code, heading } from "../../lib/parts.js";
import { onChange } from "../../lib/stores.js";
import { texts } from "../../texts.js";
import { serverDetails } from "./details.js";

const words = texts.servers;

export function mount(root, { rest, signal }) {
  const place = h("div");
  const [name] = rest;
  fill(root, heading(words.title, words.lead, name ? h("a.button", { href: "#/servers" }, words.back) : null), place);
  const show = name ? one(place, name, signal) : all(place, signal);
  onChange(["server_changed", "tools_changed", "config_reloaded"], show, signal);
  return show();
}

function all(place, signal) {
  const show = () => asked(place, () => api.get("/api/servers", { signal }), ({ servers }) => (servers.length
    ? h("div.cards", servers.map((each) => card(each, show, signal))) : empty(words.none, words.noneHint)));
  return show;
}

/** Draws the server anew only where it has changed, and then with the tab that was chosen. */
function one(place, name, signal) {
  let shown = "";
  let chosen = 0;
  const show = () => asked(place, () => api.get(path`/api/servers/${name}`, { signal }), (found) => {
    if (shown === JSON.stringify(found)) return [...place.childNodes];
    shown = JSON.stringify(found);
    return serverDetails(found, actions(found, show, signal), { chosen, choose: (at) => { chosen = at; } });
  });
  return show;
}

export const stateOf = (server) => h(`span.state.state-${server.state}`, h("span.dot", { "aria-hidden": "true" }), words.states[server.state] || server.state);

const card = (server, show, signal) => h("article.card",
  h("div.card-head", h("h2", h("a", { href: `#/servers/${encodeURIComponent(server.name)}` }, server.name)), stateOf(server)),
  server.error ? h("p.field-error", server.error) : null,
  h("p.tags", h("span.tag", server.transport), ["tools", "resources", "prompts"]
    .filter((each) => server[each] !== null).map((each) => h("span.tag", words.counts[each](server[each])))),
  server.changed.length ? h("p.field-warning", words.changed(server.changed.length)) : null,
  actions(server, show, signal));

function actions(server, show, signal) {
  const go = (verb) => () => tried(async () => { await api.post(path`/api/servers/${server.name}/${verb}`); await show(); });
  const isThere = server.state === "connected";
  return h("div.actions",
    server.state === "needs_sign_in" ? button(words.signIn, () => signIn(server, signal), { kind: "small primary", "aria-label": `${words.signIn}: ${server.name}` }) : null,
    button(isThere ? words.disconnect : words.connect, go(isThere ? "disconnect" : "connect"), { kind: "small", "aria-label": `${isThere ? words.disconnect : words.connect}: ${server.name}` }));
}

/** The address is opened by a person's click: nothing here goes to another host by itself. */
const signIn = (server, signal) => tried(async () => {
  const { authorization_url: url } = await api.post(path`/api/servers/${server.name}/sign-in`);
  const done = new AbortController();
  onChange(["server_changed"], (told) => { if (told.name === server.name) done.abort(); }, AbortSignal.any([signal, done.signal]));
  await dialog(words.signIn, () => h("div", h("p", words.signInHint), code(url, words.signInAddress),
    h("div.actions", h("a.button.primary", { href: url, target: "_blank", rel: "noopener noreferrer" }, words.openSignIn))),
  { signal: done.signal });
});
