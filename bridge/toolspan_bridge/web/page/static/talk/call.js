// A tool call as a panel: its name and state, arguments, result, time, and the difference of an edit.

import { texts } from "../texts.js";
import { append, fill, h } from "../lib/dom.js";
import { diffView, editOf } from "../lib/diff.js";
import { callArguments, duration } from "../lib/format.js";
import { button, code } from "../lib/parts.js";

const words = texts.talk;

export class CallPanel {
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
    this.tool = this.data.tool || this.data.service || this.data.tool_name || this.data.name || "?";
    this.arguments = this.data.arguments ?? this.data.params ?? this.data.tool_input ?? null;
    fill(this.head, h("span.call-name", this.tool), h("span.call-args", `(${callArguments(this.arguments ?? {})})`), this.state, this.meta);
    this.mark("running");
    this.draw();
  }

  mark(state) {
    this.element.dataset.state = state;
    fill(this.state, words[state]);
  }

  waits(open) {
    this.mark("asked");
    fill(this.live, button(texts.approval.open, open, { kind: "small primary" }));
    this.element.open = true;
  }

  progress(data) {
    const total = data.total ?? null;
    fill(this.live, h("label.progress", data.message || words.progress, h("progress", { value: total ? data.progress : null, max: total })));
    this.element.open = true;
  }

  log(data) {
    this.logs.push(`${data.level || "info"}: ${data.text || ""}`);
    this.draw();
  }

  finish(data) {
    const outcome = data.outcome ?? data.result ?? data;
    this.result = outcome;
    this.time = data.execution_time_ms ?? outcome?.execution_time_ms;
    const isGood = (data.success ?? outcome?.success) !== false && !outcome?.is_error;
    fill(this.live);
    this.mark(isGood ? "done" : outcome?.error_code === "denied" ? "denied" : "failed");
    this.iteration = data.iteration ?? this.data.iteration;
    fill(this.meta, [this.iteration ? words.iteration(this.iteration) : null, Number.isFinite(this.time) ? duration(this.time) : null].filter(Boolean).join(" · "));
    this.draw();
    return this;
  }

  settle() {
    if (["running", "asked"].includes(this.element.dataset.state)) this.mark("failed");
    fill(this.live);
  }

  draw() {
    const edit = editOf(this.arguments);
    fill(this.inside, this.live, this.data.server ? h("p.hint", `${texts.test.server}: ${this.data.server}`) : null,
      edit ? [h("h4", words.edits, " ", h("code", edit.path)), diffView(edit.before, edit.after)]
        : [h("h4", words.arguments), code(this.arguments ?? {}, words.arguments)]);
    if (this.logs.length) append(this.inside, [h("h4", words.log), code(this.logs.join("\n"), words.log)]);
    if (this.result !== undefined) append(this.inside, [h("h4", words.result), resultOf(this.result)]);
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
