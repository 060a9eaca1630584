// One run as it goes: its progress, a table that fills, and each trial as it ends.

import { api, path } from "../../lib/api.js";
import { fill, h } from "../../lib/dom.js";
import { follow } from "../../lib/events.js";
import { duration, percent } from "../../lib/format.js";
import { problemBox, tried } from "../../lib/notify.js";
import { button, table } from "../../lib/parts.js";
import { modelsChanged } from "../../lib/stores.js";
import { texts } from "../../texts.js";
import { showTrials } from "./trials.js";

const words = texts.validation;
const MOST_LINES = 200;
const IS_OVER = ["done", "cancelled", "failed"];

/** Successes of those that were no errors of a provider. */
export const rateOf = (run) => run.successes / (run.finished - run.errors);

export async function watchRun(place, id, signal, { ended, trials }) {
  const view = new RunWatch(id, trials, signal);
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { once: true });
  fill(place, view.element);
  try {
    view.run = await api.get(path`/api/validation/runs/${id}`, { signal });
  } catch (problem) {
    if (problem.status === undefined && problem.name !== "AbortError") throw problem;
    fill(place, problem.status === undefined ? null : problemBox(problem));
    return;
  }
  view.show();
  follow(path`/api/validation/runs/${id}/events`, {
    signal: over.signal, once: true, after: "0",
    async onEvent(name, data) {
      view.take(name, data);
      if (name !== "run_ended") return;
      over.abort();
      const whole = await tried(() => api.get(path`/api/validation/runs/${id}`));
      if (whole) { view.run = whole; view.show(); }
      modelsChanged();
      ended();
    },
  });
}

class RunWatch {
  constructor(id, trials, signal) {
    this.cells = new Map();
    this.done = 0;
    this.began = performance.now();
    this.bar = h("progress", { max: 1, "aria-label": words.events });
    this.told = h("p", { role: "status" });
    this.lines = h("ol.run-lines", { tabindex: 0, "aria-label": words.events });
    this.table = h("div");
    this.cancel = button(words.cancel, () => tried(async () => { this.run = await api.post(path`/api/validation/runs/${id}/cancel`); this.show(); }), { kind: "small danger" });
    this.look = button(words.trials, () => { showTrials(trials, { run: this.run.run }, signal); trials.focus(); }, { kind: "small", hidden: true });
    this.element = h("section.panel", h("h2", words.runTitle), this.bar, this.told, h("div.actions", this.cancel, this.look), this.table, this.lines);
  }

  take(name, data) {
    if (name === "notice") this.line("", "· ", data.text);
    if (name === "slower") this.line("warn", "! ", words.slower(data.provider));
    if (name !== "trial_finished") return;
    this.done += 1;
    const tone = data.is_error ? ["warn", "! "] : data.success ? ["good", "✓ "] : ["bad", "✗ "];
    this.line(...tone, [`${data.model} · ${data.scenario}`, Number.isFinite(data.duration_ms) ? ` (${duration(data.duration_ms)})` : "", data.reason ? `: ${data.reason}` : ""].join(""));
    const key = JSON.stringify([data.model, data.suite]);
    const cell = this.cells.get(key) || { model: data.model, suite: data.suite, n: 0, successes: 0, errors: 0 };
    if (data.is_error) cell.errors += 1;
    else { cell.n += 1; cell.successes += data.success ? 1 : 0; }
    this.cells.set(key, cell);
    this.show();
  }

  line(tone, sign, text) {
    this.lines.append(h("li", h("span", { class: tone }, sign), text));
    while (this.lines.childElementCount > MOST_LINES) this.lines.firstChild.remove();
    this.lines.scrollTop = this.lines.scrollHeight;
  }

  show() {
    const { run } = this;
    const finished = Math.max(run.finished, this.done);
    const isOver = IS_OVER.includes(run.state);
    this.bar.max = run.total || 1;
    this.bar.value = finished;
    this.bar.hidden = isOver;
    this.cancel.hidden = isOver;
    this.look.hidden = !(isOver && run.run);
    fill(this.told, isOver ? [words.states[run.state], ` · ${words.progress(run.finished, run.total)}`, Number.isFinite(rateOf(run)) ? ` · ${percent(rateOf(run))}` : "", run.errors ? ` · ${words.errors(run.errors)}` : "", run.problem ? `: ${run.problem}` : ""]
      : `${run.state === "stopping" ? `${words.states.stopping} · ` : ""}${words.progress(finished, run.total)}${this.left(finished)}`);
    if (this.cells.size) fill(this.table, table(words.sofar, [{ title: words.model }, { title: words.suites }, { title: words.n, number: true }, { title: words.rate, number: true }, { title: words.errorsTitle, number: true }],
      [...this.cells.values()].map((each) => [each.model, each.suite, String(each.n), each.n ? percent(each.successes / each.n) : "–", String(each.errors)])));
  }

  left(finished) {
    if (finished < 3) return "";
    return ` · ${words.left(duration(((performance.now() - this.began) / finished) * (this.run.total - finished)))}`;
  }
}
