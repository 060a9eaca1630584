// The config file: its text, checked as one types. It cannot be saved from here.

import { api } from "../../lib/api.js";
import { fill, h } from "../../lib/dom.js";
import { asked, toast, tried } from "../../lib/notify.js";
import { button, figures, heading } from "../../lib/parts.js";
import { onChange } from "../../lib/stores.js";
import { texts } from "../../texts.js";

const words = texts.config;
const WAIT_MS = 300;

export function mount(root, { signal }) {
  const place = h("div");
  const reload = h("div", { role: "status" });
  fill(root, heading(words.title, words.lead), h("div.notice", h("p", words.notSaved)), reload, place);
  let editor = null;
  const show = () => asked(place, () => api.get("/api/config", { signal }), (found) => { editor = new Editor(found); editor.check(); return editor.element; });
  onChange(["config_reloaded", "config_failed"], async (told) => {
    if (!editor?.isChanged) await show();
    else editor.newer(await api.get("/api/config", { signal }));
    const when = new Date().toLocaleTimeString("en");
    fill(reload, h("p.outcome", { class: told.problems ? "outcome-bad" : "outcome-good" }, told.problems ? words.refusedAt(when) : words.reloadedAt(when)));
  }, signal);
  return show();
}

class Editor {
  constructor(found) {
    this.found = found;
    this.text = h("textarea.mono.config-text", { id: "config-text", spellcheck: "false", wrap: "off", rows: 24, oninput: () => this.typed(), onscroll: () => { this.numbers.scrollTop = this.text.scrollTop; } });
    this.text.value = found.text || "";
    this.numbers = h("div.line-numbers", { "aria-hidden": "true" });
    this.problems = h("div.config-problems", { role: "status", "aria-live": "polite" });
    this.state = h("p.hint");
    this.element = h("div",
      figures([[words.path, found.path ? h("code", found.path) : words.none], [words.version, found.version], [words.state, found.problems.length ? h("span.bad", words.failed) : h("span.good", words.loaded)]]),
      found.problems.length ? h("div.notice.notice-error", h("p.notice-title", words.notUsed), h("ul", found.problems.map((each) => h("li", each)))) : null,
      h("label", { for: "config-text" }, words.text),
      h("div.config-editor", this.numbers, this.text), this.problems, this.state,
      h("div.actions", button(words.copy, () => this.copy()), button(words.reset, () => { this.text.value = this.found.text || ""; this.typed(); })));
    this.mark();
  }

  get isChanged() { return this.text.value !== (this.found.text || ""); }

  say(text) { fill(this.state, text); }

  /** The file has changed while its text was being changed here. */
  newer(found) {
    this.found = found;
    this.mark();
    this.say(this.isChanged ? words.newerHere : words.same);
  }

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
    if (!this.problems.childElementCount) fill(this.problems, h("p.hint", words.checking));
    const found = await tried(() => api.post("/api/config/check", { text: this.text.value }, { signal: this.last.signal }));
    if (found) this.show(found.problems);
  }

  show(problems) {
    this.mark(new Set(problems.map((each) => each.line)));
    fill(this.problems, problems.length
      ? [h("p.outcome.outcome-bad", words.problems(problems.length)), h("ol.problems", problems.map((each) => h("li",
        each.line ? button(words.line(each.line, each.column ?? 1), () => this.go(each.line, each.column ?? 1), { kind: "small quiet-button" }) : null,
        h("div", each.path ? h("code", each.path) : null, " ", each.message), each.hint ? h("p.hint", each.hint) : null)))]
      : h("p.outcome.outcome-good", words.ok));
  }

  go(line, column) {
    const lines = this.text.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    this.text.focus();
    this.text.setSelectionRange(at, at + (lines[line - 1]?.length || 0) - column + 1);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.text.value);
      toast(texts.copied);
    } catch {
      this.text.select();
      toast(texts.notCopied, "error");
    }
  }
}
