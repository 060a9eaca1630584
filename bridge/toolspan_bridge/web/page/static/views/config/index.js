// The config file: its text, checked as one types. It cannot be saved from here.

import { api } from "../../lib/api.js";
import { fill, h } from "../../lib/dom.js";
import { asked, tried } from "../../lib/notify.js";
import { button, figures, heading } from "../../lib/parts.js";
import { onChange } from "../../lib/stores.js";
import { texts } from "../../texts.js";

const words = texts.config;
const WAIT_MS = 300;

export function mount(root, { signal }) {
  const place = h("div");
  fill(root, heading(words.title, words.lead), h("div.notice", h("p", words.notSaved)), place);
  let editor = null;
  const show = () => asked(place, () => api.get("/api/config", { signal }), (found) => { editor = new Editor(found, signal); return editor.element; });
  onChange(["config_reloaded", "config_failed"], async () => {
    if (!editor?.isChanged) show();
    else editor.say(words.newerHere);
  }, signal);
  return show();
}

class Editor {
  constructor(found, signal) {
    this.found = found;
    this.signal = signal;
    this.text = h("textarea.mono.config-text", { id: "config-text", spellcheck: "false", wrap: "off", rows: 24, oninput: () => this.typed(), onscroll: () => { this.numbers.scrollTop = this.text.scrollTop; } });
    this.text.value = found.text || "";
    this.numbers = h("div.line-numbers", { "aria-hidden": "true" });
    this.problems = h("div.config-problems", { role: "status", "aria-live": "polite" });
    this.state = h("p.hint");
    this.element = h("div",
      figures([[words.path, found.path ? h("code", found.path) : words.none], [words.version, found.version], [texts.validation.state, (found.problems || []).length ? words.failed : words.loaded]]),
      h("label", { for: "config-text" }, words.text),
      h("div.config-editor", this.numbers, this.text), this.problems, this.state,
      h("div.actions", button(words.copy, () => this.copy()), button(words.reset, () => { this.text.value = this.found.text || ""; this.typed(); })));
    this.show(found.problems || []);
    this.mark();
  }

  get isChanged() { return this.text.value !== (this.found.text || ""); }

  say(text) { fill(this.state, text); }

  typed() {
    this.mark();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), WAIT_MS);
  }

  mark(lines = this.lines || new Set()) {
    this.lines = lines;
    const count = this.text.value.split("\n").length;
    fill(this.numbers, Array.from({ length: count }, (_, at) => h(`div${lines.has(at + 1) ? ".line-bad" : ""}`, at + 1)));
    this.say(this.isChanged ? words.changed : words.same);
  }

  async check() {
    this.last?.abort();
    this.last = new AbortController();
    const found = await tried(() => api.post("/api/config/check", { text: this.text.value }, { signal: this.last.signal }));
    if (found) this.show(found.problems || []);
  }

  show(problems) {
    this.mark(new Set(problems.map((each) => each.line)));
    fill(this.problems, problems.length
      ? [h("p.outcome.outcome-bad", words.problems(problems.length)), h("ol.problems", problems.map((each) => h("li",
        each.line ? button(words.line(each.line, each.column ?? 1), () => this.go(each.line, each.column ?? 1), { kind: "small quiet-button" }) : null,
        h("div", each.path ? h("code", each.path) : null, " ", each.message || each.detail || String(each)), each.hint ? h("p.hint", each.hint) : null)))]
      : h("p.outcome.outcome-good", words.ok));
  }

  go(line, column) {
    const lines = this.text.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    this.text.focus();
    this.text.setSelectionRange(at, at + (lines[line - 1]?.length || 0) - column + 1);
  }

  async copy() {
    const { toast } = await import("../../lib/notify.js");
    try {
      await navigator.clipboard.writeText(this.text.value);
      toast(texts.copied);
    } catch {
      this.text.select();
      toast(texts.notCopied, "error");
    }
  }
}
