// One run of a conversation as it happens: its events become turns, tool panels and an answer on the page.

import { texts } from "../texts.js";
import { fill, h } from "../lib/dom.js";
import { Growing } from "../lib/markdown.js";
import { CallPanel } from "./call.js";
import { asApproval, asElicitation } from "./requests.js";

const words = texts.talk;

export class RunView {
  /** `ask(kind, data)` opens the dialog of an approval or elicitation. */
  constructor({ id, ask = () => {}, onEnd = () => {} }) {
    this.id = id;
    this.ask = ask;
    this.onEnd = onEnd;
    this.calls = new Map();
    this.requests = new Map();
    this.answer = null;
    this.ended = false;
    this.body = h("div.turns");
    this.state = h("p.run-state", { role: "status" }, words.working);
    this.element = h("div.run", { "data-run": id || "", "aria-live": "polite", "aria-atomic": "false", "aria-label": words.answerRegion, role: "log" }, this.body, this.state);
  }

  /** Takes one event of the run. */
  take(name, data) {
    const at = HANDLERS[name];
    if (at) at(this, data);
  }

  get toolCalls() {
    return [...this.calls.values()];
  }

  /** The place where the text of this turn grows. */
  text(kind = "text") {
    if (this.open?.kind !== kind) {
      const place = h(kind === "text" ? "div.prose" : "div.prose.reasoning-text");
      const element = kind === "text" ? place : h("details.reasoning", { open: true }, h("summary", words.thinking), place);
      this.body.append(element);
      this.open = { kind, growing: new Growing(place), element };
    }
    return this.open.growing;
  }

  closeText() {
    if (this.open?.kind === "reasoning") this.open.element.open = false;
    this.open = null;
  }

  call(data) {
    const id = data.call_id || data.tool_use_id || data.id || `${data.tool}-${this.calls.size}`;
    if (!this.calls.has(id)) {
      this.closeText();
      const panel = new CallPanel(data);
      this.calls.set(id, panel);
      this.body.append(panel.element);
    }
    return this.calls.get(id);
  }

  say(text, kind = "info") {
    this.body.append(h(`p.run-note.run-note-${kind}`, text));
  }

  settle(text = "") {
    this.closeText();
    fill(this.state, text);
    this.state.hidden = !text;
  }
}

const HANDLERS = {
  iteration(view, data) {
    view.closeText();
    view.iteration = data.iteration;
    view.turnText = false;
    if (data.iteration > 1) view.body.append(h("p.turn-mark", data.closing ? words.closing : words.iteration(data.iteration)));
  },
  text_delta(view, data) { view.turnText = true; view.text().add(data.text ?? data.delta ?? ""); },
  reasoning_delta(view, data) { view.text("reasoning").add(data.text ?? data.delta ?? ""); },
  text(view, data) {
    if (!data.text) return;
    view.text().set(data.text);
    view.turnText = true;
    view.closeText();
  },
  tool_call(view, data) { view.call(data).start(data); },
  tool_progress(view, data) { view.call(data).progress(data); },
  tool_log(view, data) { view.call(data).log(data); },
  tool_result(view, data) { view.call(data).finish(data); },
  approval_requested(view, data) {
    const request = asApproval(data);
    view.requests.set(request.id, request);
    if (request.callId && view.calls.has(request.callId)) view.calls.get(request.callId).waits(() => view.ask("approval", request));
    fill(view.state, words.waiting);
    view.ask("approval", request);
  },
  approval_answered: answered,
  elicitation_requested(view, data) {
    const request = asElicitation(data);
    view.requests.set(request.id, request);
    view.ask("elicitation", request);
  },
  elicitation_answered: answered,
  usage(view, data) { view.usage = data.usage || data; },
  notice(view, data) { view.say(data.text || ""); },
  limit(view, data) { view.say(words.limit(data.limit || data.text || ""), "warning"); },
  answer(view, data) {
    view.answer = data.answer && typeof data.answer === "object" ? data.answer : data;
    const content = view.answer.content ?? view.answer.answer ?? view.answer.text ?? "";
    if (content && !view.turnText) view.text().set(content);
    if (view.answer.max_iterations_reached) view.say(texts.test.maxIterations, "warning");
    else if (view.answer.reason) view.say(words.ended(view.answer.reason), "warning");
  },
  error(view, data) { view.say(data.detail || data.message || data.text || words.failed, "error"); view.failed = true; },
  cancelled(view) { view.cancelled = true; view.say(words.stopped, "warning"); },
  run_ended(view, data) {
    view.ended = true;
    for (const panel of view.calls.values()) panel.settle();
    for (const request of view.requests.values()) request.close?.();
    view.settle();
    view.onEnd(data);
  },
};

function answered(view, data) {
  const request = view.requests.get(data.request || data.request_id || data.id);
  request?.close?.();
  view.requests.delete(request?.id);
  fill(view.state, words.working);
}
