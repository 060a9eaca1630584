// A test query: asked in a conversation of its own, so that its calls, approvals and answer are seen as they come.

import { api, path } from "../../lib/api.js";
import { field, fill, h } from "../../lib/dom.js";
import { duration, money, tokens } from "../../lib/format.js";
import { modelSelect } from "../../lib/model-select.js";
import { problemBox, toast, tried } from "../../lib/notify.js";
import { button, figures } from "../../lib/parts.js";
import { asker } from "../../talk/ask.js";
import { followConversation } from "../../talk/follow.js";
import { RunView } from "../../talk/run.js";
import { texts } from "../../texts.js";

const words = texts.test;

export function queryForm({ query, signal }) {
  const models = modelSelect({ id: "test-model", signal });
  const text = h("textarea", { id: "test-query", rows: 3, placeholder: words.placeholder });
  const run = h("button.primary", { type: "submit" }, words.run);
  const stop = button(texts.talk.stop, () => tried(() => api.post(path`/api/conversations/${running}/cancel`)), { hidden: true });
  const fault = h("p.field-error", { role: "alert", hidden: true });
  const results = h("div.results");
  let running = "";
  let following = new AbortController();
  signal.addEventListener("abort", () => following.abort());

  const busy = (is) => { run.disabled = is; fill(run, is ? words.running : words.run); stop.hidden = !is; };

  async function start() {
    if (run.disabled) return;
    fault.hidden = Boolean(text.value.trim() && models.value);
    if (!fault.hidden) { fill(fault, words.missing); (text.value.trim() ? models.control : text).focus(); return; }
    const asked = { text: text.value.trim(), model: models.value };
    busy(true);
    try {
      const { id } = await api.post("/api/conversations", { model: asked.model });
      history.replaceState(null, "", `#/test?run=${encodeURIComponent(id)}`);
      const follow = watch(id, asked);
      await api.post(path`/api/conversations/${id}/messages`, { text: asked.text });
      follow();
    } catch (error) {
      if (error.status === undefined) throw error;
      busy(false);
      fill(results, problemBox(error));
    }
  }

  /** Shows conversation `id`; what is called then begins to read its events. */
  function watch(id, asked) {
    following.abort();
    following = new AbortController();
    running = id;
    const began = performance.now();
    const ask = asker((request) => path`/api/conversations/${id}/answers/${request.id}`, following.signal);
    const view = new RunView({ ask, onEnd: () => finished(id, asked, view, performance.now() - began) });
    const state = h("p.hint", { role: "status" });
    fill(results, h("h3", words.results), asked.text ? h("p.asked-query", asked.text) : null, state, view.element);
    return () => followConversation(id, {
      signal: following.signal, viewOf: () => (view.ended ? null : view),
      onState: (now) => fill(state, now === "waiting" ? texts.talk.reconnecting : ""),
      onProblem: (problem) => { busy(false); fill(results, problemBox(problem)); },
    });
  }

  function finished(id, asked, view, ms) {
    following.abort();
    busy(false);
    const { answer, lastText } = view;
    if (answer && lastText) lastText.before(h("h4.final", words.final));
    if (answer && !answer.content) results.append(h("p.hint", words.noAnswer));
    results.append(summary(asked, view, ms), ...(answer ? [verdict(asked, view)] : []), h("p", h("a", { href: `#/chat/${encodeURIComponent(id)}` }, words.continue)));
  }

  async function showAgain(id) {
    try {
      const found = await api.get(path`/api/conversations/${id}`, { signal });
      const asked = { text: found.messages.findLast((each) => each.role === "user")?.text || "", model: found.model };
      text.value = asked.text;
      if (found.run?.state === "running") busy(true);
      watch(id, asked)();
    } catch (error) {
      if (error.status === undefined && error.name !== "AbortError") throw error;
      if (error.status === 404) history.replaceState(null, "", "#/test");
    }
  }

  if (query.get("run")) showAgain(query.get("run"));
  const element = h("form.panel", { novalidate: true, onsubmit: (event) => { event.preventDefault(); start(); } },
    h("div.field", h("label", { for: "test-model" }, texts.model.label), models.element),
    field(words.query, text), fault, h("div.actions", run, stop));
  return { element, results, use: (query) => { text.value = query; text.focus(); } };
}

function summary(asked, { answer, toolCalls }, ms) {
  const used = tokens(answer?.usage);
  const usd = answer?.cost?.usd;
  return figures([[texts.model.label, answer?.model || asked.model], [words.provider, answer?.provider], [words.iterations, answer?.iterations], [words.calls, toolCalls.length],
    [words.duration, duration(ms)], [words.tokens, used ? words.tokensOf(used.read, used.written) : null],
    [words.cost, Number.isFinite(usd) ? money(usd) : answer ? words.unknownCost : null]]);
}

function verdict(asked, view) {
  const record = async (success) => {
    const details = { query: asked.text, tool_calls: view.toolCalls.map((each) => ({ tool: each.tool, arguments: each.arguments })) };
    const done = await tried(() => api.post("/api/tools/validate", { model: asked.model, success, details }).then(() => true));
    if (done) { box.remove(); toast(words.recorded); }
  };
  const box = h("div.verdict", h("span", words.record), button(words.right, () => record(true), { kind: "small" }), button(words.wrong, () => record(false), { kind: "small" }));
  return box;
}
