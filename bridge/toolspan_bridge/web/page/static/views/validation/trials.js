// Trials, each with its verdict and its transcript: what was asked and expected, called and answered.

import { api } from "../../lib/api.js";
import { fill, h, select, field } from "../../lib/dom.js";
import { duration, money, tokens, when } from "../../lib/format.js";
import { markdown } from "../../lib/markdown.js";
import { asked } from "../../lib/notify.js";
import { button, code, details, figures } from "../../lib/parts.js";
import { CallPanel } from "../../talk/call.js";
import { texts } from "../../texts.js";

const words = texts.validation;
const PAGE = "50";

/** Shows in `place` the trials that `query` chooses, page after page. */
export function showTrials(place, query, signal) {
  const list = h("div");
  const verdict = select([["", words.every], ["failure", words.failure], ["error", words.error], ["success", words.success]], { onchange: () => fill(list, drawn()) });
  let all = [];
  let next = null;
  const load = async (cursor) => {
    const page = await api.get(`/api/validation/trials?${new URLSearchParams({ ...query, limit: PAGE, ...(cursor ? { cursor } : {}) })}`, { signal });
    all = [...all, ...page.trials];
    next = page.next_cursor;
  };
  const drawn = () => {
    const fitting = all.filter((each) => !verdict.value || outcomeOf(each) === verdict.value);
    return [fitting.length ? fitting.map(trial) : h("p.hint", words.noTrials),
      next ? button(words.more, () => asked(list, () => load(next), drawn)) : null];
  };
  fill(place, h("div.filters", field(words.outcome, verdict)), list);
  return asked(list, () => load(null), drawn);
}

const outcomeOf = (each) => (each.is_error ? "error" : each.success ? "success" : "failure");
const SIGNS = { error: ["warn", "!"], success: ["good", "✓"], failure: ["bad", "✗"] };

function trial(each) {
  const outcome = outcomeOf(each);
  const [tone, sign] = SIGNS[outcome];
  const body = h("div");
  const element = details(h("span", h("span", { class: tone }, `${sign} ${words[outcome]}`), " ", each.scenario, " ",
    h("span.hint", [each.model, when(each.timestamp)].join(" · ")), each.reason ? h("span.trial-reason", each.reason) : null), body);
  element.addEventListener("toggle", () => { if (!body.childElementCount) fill(body, transcript(each)); });
  return element;
}

function transcript({ reason, details: kept }) {
  const used = tokens(kept.usage);
  return [reason ? h("p.field-error", reason) : null,
    h("h4", words.asked), h("p.said", kept.query ?? ""),
    kept.expected ? details(words.expected, code(kept.expected, words.expected)) : null,
    h("h4", words.called(kept.tool_calls?.length || 0)), (kept.tool_calls || []).map((call) => new CallPanel(call).finish(call).element),
    h("h4", words.answered), kept.content ? h("div.prose", markdown(kept.content)) : h("p.hint", texts.test.noAnswer),
    figures([[texts.model.label, [kept.provider, kept.model].filter(Boolean).join("/")], [texts.test.iterations, kept.iterations],
      [texts.test.duration, Number.isFinite(kept.duration_ms) ? duration(kept.duration_ms) : null],
      [words.first, Number.isFinite(kept.ttft_ms) ? duration(kept.ttft_ms) : null],
      [texts.test.tokens, used ? texts.test.tokensOf(used.read, used.written) : null], [texts.test.cost, Number.isFinite(kept.cost?.usd) ? money(kept.cost.usd) : null]]),
    details(texts.json, code(kept, words.trials))];
}
