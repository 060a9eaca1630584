// The runs that the store has, whoever made them.

import { api } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { when } from "../../lib/format.js";
import { asked } from "../../lib/notify.js";
import { button, table } from "../../lib/parts.js";
import { texts } from "../../texts.js";
import { showTrials } from "./trials.js";

const words = texts.validation;

export const titleOf = (run) => `${when(run.started)} · ${run.suites.join(", ")} · ${run.models.join(", ")}`;

/** Shows them in `list`; the trials of the one that is chosen in `trials`. */
export const showStored = (list, trials, signal) => asked(list, () => api.get("/api/validation/stored-runs", { signal }), ({ runs }) => (runs.length
  ? table(words.history, [{ title: words.when }, { title: words.suites }, { title: words.models }, { title: words.trialsEach, number: true }, { title: words.state }, { title: words.trials }],
    runs.map((each) => [when(each.started), each.suites.join(", "), each.models.join(", "), String(each.trials), each.finished ? words.states.done : words.unfinished,
      button(words.show, () => open(each, trials, signal), { kind: "small", "aria-label": `${words.show} ${titleOf(each)}` })]))
  : empty(words.noRuns)));

function open(run, place, signal) {
  const list = h("div");
  fill(place, h("h2", `${words.trials}: ${titleOf(run)}`), list);
  showTrials(list, { run: run.run }, signal);
  place.focus();
  place.scrollIntoView({ block: "start" });
}
