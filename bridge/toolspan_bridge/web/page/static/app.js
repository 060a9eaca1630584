// The frame of the page: header, navigation, and the view that the address names (#/view/part…).

import { fill, h, select } from "./lib/dom.js";
import { keepToken, token } from "./lib/api.js";
import { dialog } from "./lib/dialog.js";
import { problemBox, toast } from "./lib/notify.js";
import { changes, health, listen } from "./lib/stores.js";
import { texts } from "./texts.js";

const VIEWS = ["test", "chat", "presets", "validation", "servers", "config", "activity"];

const main = document.getElementById("main");
const status = h("a.health", { href: "#/servers" });
let leave = new AbortController();

function header() {
  const theme = select([["system", texts.theme.system], ["light", texts.theme.light], ["dark", texts.theme.dark]], {
    "aria-label": texts.theme.label, value: window.toolspanTheme.get(), onchange: () => window.toolspanTheme.set(theme.value),
  });
  const links = VIEWS.map((each) => h("a", { href: `#/${each}`, "data-view": each }, texts.views[each]));
  fill(document.getElementById("header"),
    h("a.brand", { href: "#/test" }, texts.name),
    h("nav", { "aria-label": texts.navigation }, links),
    h("div.header-end", status, theme));
}

const placeOf = () => {
  const [path, query = ""] = (location.hash.slice(2) || "test").split("?");
  const [view, ...rest] = path.split("/").map((each) => { try { return decodeURIComponent(each); } catch { return each; } });
  return { view: VIEWS.includes(view) ? view : "test", rest, query: new URLSearchParams(query) };
};

async function show({ focus }) {
  const { view, rest, query } = placeOf();
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link.dataset.view === view) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  document.title = `${texts.views[view]} · ${texts.name}`;
  main.dataset.view = view;
  try {
    const { mount } = await import(`./views/${view}/index.js`);
    if (signal.aborted) return;
    fill(main);
    await mount(main, { rest, query, signal });
  } catch (error) {
    if (signal.aborted) return;
    fill(main, problemBox(error.status === undefined ? { message: String(error.message || error) } : error));
    if (error.status === undefined) throw error;
  } finally {
    if (focus && !signal.aborted && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  }
}

async function showHealth() {
  try {
    const { tools, servers, config } = await health();
    const { failed, connected } = servers;
    const problems = config.problems.length;
    status.dataset.state = problems || failed ? "warning" : "ok";
    fill(status, h("span.dot", { "aria-hidden": "true" }), problems ? texts.health.problems(problems)
      : failed ? texts.health.failed(failed) : texts.health.ok(tools, connected));
    status.setAttribute("href", problems ? "#/config" : "#/servers");
  } catch (error) {
    if (error.status === undefined) throw error;
    status.dataset.state = "error";
    fill(status, h("span.dot", { "aria-hidden": "true" }), error.absent ? "" : texts.health.lost);
  }
}

let asking = false;

/** Asks for the token until one is accepted; put off, it is asked for again by what is refused next. */
async function askToken() {
  if (asking) return;
  asking = true;
  const given = await dialog(texts.token.title, (close) => {
    const input = h("input", { type: "password", id: "token", autocomplete: "current-password", autofocus: true });
    const fault = h("p.field-error", { role: "alert", hidden: !token() }, texts.token.wrong);
    const send = async (event) => {
      event.preventDefault();
      keepToken(input.value.trim());
      try {
        await health();
        close(true);
      } catch (error) {
        if (error.status === undefined) throw error;
        fault.hidden = false;
        fill(fault, error.status === 401 ? texts.token.wrong : error.message);
        input.select();
      }
    };
    return h("form", { onsubmit: send },
      h("p", texts.token.lead), h("div.field", h("label", { for: "token" }, texts.token.label), input), fault,
      h("div.actions", h("button.primary", { type: "submit" }, texts.token.send)));
  });
  asking = false;
  if (given) location.reload();
}

window.addEventListener("toolspan:token-needed", askToken);
window.addEventListener("hashchange", () => show({ focus: true }));
changes.addEventListener("connection", (event) => {
  document.body.dataset.connection = event.detail;
  showHealth();
});
changes.addEventListener("config_reloaded", () => { toast(texts.health.reloaded); showHealth(); });
changes.addEventListener("config_failed", () => { toast(texts.health.reloadFailed, "error"); showHealth(); });
for (const name of ["tools_changed", "server_changed"]) changes.addEventListener(name, showHealth);

header();
showHealth();
show({ focus: false });
listen();
