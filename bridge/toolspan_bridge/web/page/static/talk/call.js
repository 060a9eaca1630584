// A tool call as a panel: its name and state, arguments, result, time, and the difference of an edit.

import { texts } from "../texts.js";
import { append, fill, h } from "../lib/dom.js";
import { callArguments, duration } from "../lib/format.js";
import { code } from "../lib/parts.js";
import { previewView, writtenJson, writtenOut } from "../lib/preview.js";

const words = texts.talk;

export class CallPanel {
  /** `data` is an event, a call of a conversation (tool_name, tool_input) or of an answer (tool, arguments). */
  constructor(data) {
    this.state = h("span.call-state");
    this.meta = h("span.call-meta");
    this.head = h("summary");
    this.inside = h("div.call-body");
    this.live = h("div.call-live");
    this.element = h("details.call", this.head, this.inside);
    this.logs = [];
    this.start(data);
  }

  start(data) {
    this.data = { ...this.data, ...data };
    this.tool = this.data.tool_name ?? this.data.tool ?? "?";
    this.arguments = this.data.tool_input ?? this.data.arguments ?? {};
    fill(this.head, h("span.call-name", this.tool), h("span.call-args", `(${writtenOut(callArguments(this.arguments))})`), this.state, this.meta);
    this.mark("running");
    this.draw();
  }

  is(state) { return this.element.dataset.state === state; }

  mark(state) {
    this.element.dataset.state = state;
    fill(this.state, words[state]);
  }

  /** The person is asked about it: what they are shown stays with it. */
  asks(preview) {
    this.preview = preview;
    this.mark("asked");
    this.draw();
  }

  progress({ progress, total, message }) {
    const bar = h("progress", { value: total ? progress : null, max: total || null });
    fill(this.live, h("label.progress", message || words.progress, bar));
    this.element.open = true;
  }

  log({ level, text }) {
    this.logs.push(`${level}: ${text}`);
    this.draw();
  }

  finish({ result, iteration }) {
    this.result = result;
    const time = result?.execution_time_ms;
    const isGood = result?.success !== false;
    fill(this.live);
    this.mark(isGood ? "done" : result.error_code === "denied" ? "denied" : "failed");
    const at = iteration ?? this.data.iteration;
    fill(this.meta, [at ? words.iteration(at) : null, Number.isFinite(time) ? duration(time) : null].filter(Boolean).join(" · "));
    this.draw();
    return this;
  }

  /** It has ended without a result: it was stopped, or the process that ran it. */
  settle() {
    if (this.is("running") || this.is("asked")) this.mark("failed");
    fill(this.live);
    return this;
  }

  draw() {
    fill(this.inside, this.live, this.data.server ? h("p.hint", `${texts.test.server}: ${this.data.server}`) : null,
      this.preview ? [h("h4", words.allowed), previewView(this.preview)] : null,
      h("h4", words.arguments), code(writtenJson(this.arguments), words.arguments));
    if (this.logs.length) append(this.inside, [h("h4", words.log), code(this.logs.join("\n"), words.log)]);
    if (this.result !== undefined) append(this.inside, [h("h4", words.result), resultOf(this.result)]);
    if (this.data.files) append(this.inside, [h("p.tags", this.data.files.map((each) => h("span.tag", each.name || each.media_type)))]);
  }
}

/** A tool result: what came of it, and where it failed what to do. */
export function resultOf(result) {
  if (result && typeof result === "object" && result.success === false) {
    return [h("p.run-note.run-note-error", result.error || words.failed, result.user_action ? ` ${result.user_action}` : ""),
      code(result, words.result)];
  }
  const shown = result && typeof result === "object" && "result" in result && "success" in result ? result.result : result;
  return code(shown ?? null, words.result);
}
