// One run of a conversation as it happens: its events become turns, tool panels and an answer on the page.

import { texts } from "../texts.js";
import { fill, h } from "../lib/dom.js";
import { Growing } from "../lib/markdown.js";
import { button } from "../lib/parts.js";
import { CallPanel } from "./call.js";
import { asApproval, asElicitation } from "./requests.js";

const words = texts.talk;

export class RunView {
  /** `ask(request)` opens the dialog of an approval or elicitation; `onEnd(data)` is called once all is there. */
  constructor({ id, ask = () => {}, onEnd = () => {} }) {
    this.id = id;
    this.ask = ask;
    this.onEnd = onEnd;
    this.calls = new Map();
    this.requests = new Map();
    this.turnTexts = [];
    this.answer = null;
    this.ended = false;
    this.body = h("div.turns");
    this.waiting = h("div.waiting");
    this.state = h("p.run-state", { role: "status" }, words.working);
    this.element = h("div.run", { "data-run": id || "", "aria-live": "polite", "aria-atomic": "false", "aria-label": words.answerRegion, role: "log" }, this.body, this.waiting, this.state);
  }

  /** Takes one event of the run. */
  take(name, data) {
    HANDLERS[name]?.(this, data);
  }

  get toolCalls() {
    return [...this.calls.values()];
  }

  /** The place where the text of this turn grows. */
  text(kind = "text") {
    if (this.open?.kind !== kind) {
      this.closeText();
      const place = h(kind === "text" ? "div.prose" : "div.prose.reasoning-text");
      const element = kind === "text" ? place : h("details.reasoning", { open: true }, h("summary", words.thinking), place);
      this.body.append(element);
      this.open = { kind, growing: new Growing(place), element };
      if (kind === "text") {
        this.lastText = place;
        this.turnTexts.push(place);
      }
    }
    return this.open.growing;
  }

  /** The text of this turn is no part of the answer: it goes. */
  retract() {
    this.closeText();
    for (const place of this.turnTexts.splice(0)) place.remove();
    this.lastText = null;
    this.turnText = false;
  }

  closeText() {
    if (this.open?.kind === "reasoning") this.open.element.open = false;
    this.open = null;
  }

  call(data) {
    const id = data.tool_use_id;
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

  /** The person is asked: by a dialog, and by a button that opens it again. */
  asks(request) {
    this.requests.set(request.id, request);
    if (request.kind === "approval") this.calls.get(request.callId)?.asks(request.preview);
    this.drawWaiting();
    this.ask(request);
  }

  answered(id) {
    const request = this.requests.get(id);
    request?.close?.();
    this.requests.delete(id);
    const panel = this.calls.get(request?.callId);
    if (panel?.is("asked")) panel.mark("running");
    this.drawWaiting();
  }

  drawWaiting() {
    fill(this.waiting, [...this.requests.values()].map((request) => {
      const own = texts[request.kind];
      return h("p.run-note.run-note-warning", own.asked(request.kind === "approval" ? request.tool : request.server), " ", button(own.open, () => this.ask(request), { kind: "small primary" }));
    }));
    fill(this.state, this.requests.size ? words.waiting : words.working);
  }

  settle() {
    for (const panel of this.calls.values()) panel.settle();
    for (const request of this.requests.values()) request.close?.();
    this.requests.clear();
    this.closeText();
    fill(this.waiting);
    fill(this.state);
    this.state.hidden = true;
  }
}

const HANDLERS = {
  iteration(view, { iteration, closing }) {
    view.closeText();
    view.turnText = false;
    view.turnTexts = [];
    if (iteration > 1) view.body.append(h("p.turn-mark", closing ? words.closing : words.iteration(iteration)));
  },
  text_delta(view, { text }) { view.turnText = true; view.text().add(text); },
  reasoning_delta(view, { text, was_text: wasText }) {
    if (wasText) view.retract();
    view.text("reasoning").add(text);
  },
  text_retracted(view) { view.retract(); },
  text(view, { text }) {
    if (!text) return;
    view.text().set(text);
    view.turnText = true;
    view.closeText();
  },
  tool_call(view, data) { view.call(data).start(data); },
  tool_progress(view, data) { view.call(data).progress(data); },
  tool_log(view, data) { view.call(data).log(data); },
  tool_result(view, data) { view.call(data).finish(data); },
  hook(view, { hook, outcome, reason }) { view.say([words.hook(hook), outcome, reason].filter(Boolean).join(" · ")); },
  sampling_requested(view, { server }) { view.say(words.sampling(server)); },
  subagent(view, { tool_use_id: id, agent, event }) {
    const text = event.type === "tool_call_started" ? words.calls(event.tool_name) : event.type === "text" ? event.text : "";
    if (text && view.calls.has(id)) view.calls.get(id).log({ level: agent, text });
  },
  approval_requested(view, data) { view.asks(asApproval(data)); },
  approval_answered(view, { request }) { view.answered(request); },
  elicitation_requested(view, data) { view.asks(asElicitation(data)); },
  elicitation_answered(view, { request }) { view.answered(request); },
  notice(view, { text }) { view.say(text); },
  limit(view, { text }) { view.say(text, "warning"); },
  answer(view, answer) {
    view.answer = answer;
    if (answer.content && !view.turnText) view.text().set(answer.content);
    if (answer.max_iterations_reached) view.say(texts.test.maxIterations, "warning");
    else if (answer.reason) view.say(words.ended(answer.reason), "warning");
  },
  error(view, { message }) { view.say(message, "error"); },
  cancelled(view) { view.say(words.stopped, "warning"); },
  run_ended(view, data) {
    view.ended = true;
    view.settle();
    view.onEnd(data);
  },
};
