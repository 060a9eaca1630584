// Validation: the matrix of models and scenarios, runs, and comparisons.

import { h, fill } from "../../lib/dom.js";
import { heading } from "../../lib/parts.js";
import { tabs } from "../../lib/tabs.js";
import { texts } from "../../texts.js";
import { compareView } from "./compare.js";
import { matrixView } from "./matrix.js";
import { runsView } from "./runs.js";

const words = texts.validation;
const TABS = ["matrix", "runs", "compare"];

export function mount(root, { rest, signal }) {
  fill(root, heading(words.title, words.lead), tabs(words.title, [
    { title: words.matrix, build: () => matrixView(signal) },
    { title: words.runs, build: () => runsView(signal, rest[1] || null) },
    { title: words.compare, build: () => compareView(signal) },
  ], Math.max(0, TABS.indexOf(rest[0])), (at) => history.replaceState(null, "", `#/validation/${TABS[at]}`)));
}
