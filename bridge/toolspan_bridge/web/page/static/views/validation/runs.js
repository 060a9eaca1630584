// Runs of validation: started here, followed as they go, and those of before.

import { api, path } from "../../lib/api.js";
import { empty, field, fill, h, select } from "../../lib/dom.js";
import { follow } from "../../lib/events.js";
import { percent, when } from "../../lib/format.js";
import { asked, problemBox, toast, tried } from "../../lib/notify.js";
import { button, table } from "../../lib/parts.js";
import { modelList } from "../../lib/stores.js";
import { texts } from "../../texts.js";

const words = texts.validation;
const ENDED = ["completed", "failed", "cancelled", "ended", "done", "interrupted"];

export function runsView(signal, followed) {
  const form = h("div");
  const live = h("div");
  const list = h("div");
  const showList = () => asked(list, () => api.get("/api/validation/runs", { signal }), ({ runs }) => (runs.length
    ? table(words.history, [{ title: words.when }, { title: words.suites }, { title: words.models }, { title: words.state }, { title: words.rate, number: true }, { title: words.follow }], runs.map(row))
    : empty(words.noRuns)));
  const row = (each) => [when(each.started_at ?? each.started ?? each.created_at ?? each.created), (each.suites || []).join(", "), (each.models || []).join(", "), each.state || each.status || "–",
    percent(rateOf(each)), button(words.follow, () => watch(each.id), { kind: "small", "aria-label": `${words.follow} ${each.id}` })];
  const watch = (id) => watchRun(live, id, signal, showList);
  asked(form, async () => {
    const [{ suites }, models] = await Promise.all([api.get("/api/validation/suites", { signal }), modelList().catch(() => ({ models: [] }))]);
    return { suites, models: models.models || [] };
  }, (found) => startForm(found, (id) => { history.replaceState(null, "", `#/validation/runs/${encodeURIComponent(id)}`); watch(id); showList(); }));
  showList();
  if (followed) watch(followed);
  return h("div", form, live, h("h2", words.history), list);
}

function startForm({ suites, models }, started) {
  if (!suites.length) return h("p.hint", words.noSuites);
  const box = (name, value) => h("label.check", h("input", { type: "checkbox", name, value }), h("span", value));
  const trials = h("input", { type: "number", min: 1, max: 1000, value: "3" });
  const cost = h("input", { type: "number", min: 0, step: "0.01" });
  const time = h("input", { type: "number", min: 1 });
  const mode = select([["", texts.form.choose], "native", "prompt"]);
  const fault = h("p.field-error", { role: "alert", hidden: true });
  const chosen = (name) => [...element.querySelectorAll(`input[name=${name}]:checked`)].map((each) => each.value);
  async function start(event) {
    event.preventDefault();
    const body = { suites: chosen("suite"), models: chosen("model"), trials: Number(trials.value) || 1 };
    if (mode.value) body.modes = [mode.value];
    if (cost.value) body.max_cost = Number(cost.value);
    if (time.value) body.max_time_s = Number(time.value);
    fault.hidden = body.suites.length > 0 && body.models.length > 0;
    if (!fault.hidden) { fill(fault, words.needBoth); return; }
    const made = await tried(() => api.post("/api/validation/runs", body));
    if (made) { toast(words.started); started(made.id); }
  }
  const element = h("form.panel", { novalidate: true, onsubmit: start }, h("h2", words.run),
    h("div.columns",
      h("fieldset", h("legend", words.suites), suites.map((each) => box("suite", each.name ?? each))),
      h("fieldset", h("legend", words.models), models.map((each) => box("model", each.id)))),
    h("div.columns", field(words.trialsEach, trials), field(words.modes, mode), field(words.maxCost, cost), field(words.maxTime, time)),
    fault, h("div.actions", h("button.primary", { type: "submit" }, words.start)));
  return element;
}

/** Successes of those that were no errors of a provider. */
const rateOf = (run) => run.rate ?? run.successes / (run.finished - run.errors);

async function watchRun(place, id, signal, onEnd) {
  const bar = h("progress", { max: 1, "aria-label": words.events });
  const told = h("p", { role: "status" });
  const lines = h("ol.run-lines", { "aria-live": "polite", tabindex: 0, "aria-label": words.events });
  const cancel = button(words.cancel, () => tried(() => api.post(path`/api/validation/runs/${id}/cancel`)), { kind: "small danger" });
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { once: true });
  fill(place, h("section.panel", h("h2", id), bar, told, h("div.actions", cancel), lines));
  const show = (run) => {
    const all = run.total;
    const done = run.finished ?? run.number;
    if (Number.isFinite(all) && all > 0) { bar.max = all; bar.value = done ?? 0; fill(told, words.progress(done ?? 0, all)); }
    if (ENDED.includes(run.state ?? run.status)) {
      fill(told, `${run.state ?? run.status}${Number.isFinite(rateOf(run)) ? ` · ${percent(rateOf(run))}` : ""}${run.problem ? `: ${run.problem}` : ""}`);
      bar.hidden = true;
      cancel.hidden = true;
      over.abort();
    }
  };
  try {
    show(await api.get(path`/api/validation/runs/${id}`, { signal }));
  } catch (problem) {
    if (problem.status === undefined) throw problem;
    fill(place, problemBox(problem));
    return;
  }
  follow(path`/api/validation/runs/${id}/events`, {
    signal: over.signal, once: true,
    async onEvent(name, data) {
      show(data);
      if (name === "trial_finished") {
        lines.append(h("li", h("span", { class: data.success ? "good" : "bad" }, data.success ? "✓ " : "✗ "), `${data.model || ""} · ${data.scenario}${data.reason || data.error ? `: ${data.reason || data.error}` : ""}`));
        while (lines.childElementCount > 200) lines.firstChild.remove();
      }
      if (name === "run_ended" || name === "ended") {
        show(await api.get(path`/api/validation/runs/${id}`).catch(() => ({ state: "ended" })));
        onEnd();
      }
    },
  });
}
