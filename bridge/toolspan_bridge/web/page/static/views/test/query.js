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
  const models = modelSelect({ id: "test-model" });
  const text = h("textarea", { id: "test-query", rows: 3, placeholder: words.placeholder });
  const run = h("button.primary", { type: "submit" }, words.run);
  const stop = button(texts.talk.stop, () => {}, { hidden: true });
  const fault = h("p.field-error", { role: "alert", hidden: true });
  const results = h("div.results");
  let following = new AbortController();
  signal.addEventListener("abort", () => following.abort());

  const busy = (is) => { run.disabled = is; fill(run, is ? words.running : words.run); stop.hidden = !is; };

  async function start() {
    fault.hidden = Boolean(text.value.trim() && models.value);
    if (!fault.hidden) { fill(fault, words.missing); (text.value.trim() ? models.control : text).focus(); return; }
    const asked = { text: text.value.trim(), model: models.value };
    busy(true);
    try {
      const { id } = await api.post("/api/conversations", { model: asked.model });
      history.replaceState(null, "", `#/test?run=${encodeURIComponent(id)}`);
      const show = watch(id, asked);
      await api.post(path`/api/conversations/${id}/messages`, { text: asked.text });
      show();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (error.absent) return whole(asked);
      busy(false);
      fill(results, problemBox(error));
    }
    return undefined;
  }

  /** Follows conversation `id`; what is called then begins to read its events. */
  function watch(id, asked) {
    following.abort();
    following = new AbortController();
    const began = performance.now();
    const view = new RunView({ ask: asker(id, following.signal), onEnd: () => finished(id, asked, view, performance.now() - began) });
    const head = h("h3", words.results);
    const state = h("p.hint", { role: "status" });
    fill(results, head, asked.text ? h("p.asked-query", asked.text) : null, state, view.element);
    stop.onclick = () => tried(() => api.post(path`/api/conversations/${id}/cancel`));
    return () => followConversation(id, {
      signal: following.signal, viewOf: () => (view.ended ? null : view),
      onState: (now) => fill(state, now === "waiting" ? texts.talk.reconnecting : ""),
      onProblem: (problem) => { busy(false); fill(results, problemBox(problem)); },
    });
  }

  function finished(id, asked, view, ms) {
    following.abort();
    busy(false);
    const answer = view.answer || {};
    results.append(summary({ ...answer, calls: view.toolCalls.length, ms, usage: answer.usage || view.usage, model: answer.model || asked.model }),
      verdict(asked, answer, view), h("p", h("a", { href: `#/chat/${encodeURIComponent(id)}` }, words.continue)));
  }

  /** Where there are no conversations: the whole test in one request. */
  async function whole(asked) {
    try {
      const answer = await api.post("/api/tools/test", { query: asked.text, model: asked.model });
      const view = new RunView({});
      for (const [at, call] of (answer.tool_calls || []).entries()) {
        view.take("tool_call", { ...call, call_id: String(at) });
        view.take("tool_result", { ...call, call_id: String(at) });
      }
      view.take("answer", { ...answer, content: answer.answer });
      view.take("run_ended", {});
      fill(results, h("h3", words.results), view.element, summary({ ...answer, calls: (answer.tool_calls || []).length }), verdict(asked, answer, view));
    } catch (error) {
      if (error.status === undefined) throw error;
      fill(results, problemBox(error));
    } finally {
      busy(false);
    }
  }

  const kept = query.get("run");
  if (kept) {
    api.get(path`/api/conversations/${kept}`, { signal }).then((found) => {
      const question = (found.messages || []).findLast((each) => each.role === "user")?.text || "";
      text.value = question;
      if (found.run?.state === "running") busy(true);
      watch(kept, { text: question, model: found.model || "" })();
    }).catch((error) => { if (error.status === undefined && error.name !== "AbortError") throw error; });
  }
  const element = h("form.panel", { novalidate: true, onsubmit: (event) => { event.preventDefault(); start(); } },
    h("div.field", h("label", { for: "test-model" }, texts.model.label), models.element),
    field(words.query, text), fault, h("div.actions", run, stop));
  return { element, results, use: (query) => { text.value = query; text.focus(); } };
}

function summary(answer) {
  const used = tokens(answer.usage);
  const usd = answer.cost?.usd ?? answer.usd;
  return figures([[texts.model.label, answer.model], [words.provider, answer.provider], [words.iterations, answer.iterations], [texts.activity.calls, answer.calls],
    [words.duration, Number.isFinite(answer.ms) ? duration(answer.ms) : null],
    [words.tokens, used ? words.tokensOf(used.read, used.written) : null], [words.cost, Number.isFinite(usd) ? money(usd) : null]]);
}

function verdict(asked, answer, view) {
  const record = async (success, box) => {
    const details = { query: asked.text, tool_calls: view.toolCalls.map((each) => ({ tool: each.tool, arguments: each.arguments })) };
    const done = await tried(() => api.post("/api/tools/validate", { model: asked.model, success, details }).then(() => true));
    if (done) { box.remove(); toast(words.recorded); }
  };
  const box = h("div.verdict", h("span", words.record), button(words.right, () => record(true, box), { kind: "small" }), button(words.wrong, () => record(false, box), { kind: "small" }));
  return answer.content === undefined && answer.answer === undefined ? null : box;
}
