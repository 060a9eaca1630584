// A tool called by hand: the form of its parameters, and what came of the call.

import { api } from "../../lib/api.js";
import { confirmed } from "../../lib/dialog.js";
import { plainPreview, previewView } from "../../lib/preview.js";
import { fill, h } from "../../lib/dom.js";
import { schemaForm } from "../../lib/form/index.js";
import { duration } from "../../lib/format.js";
import { problemBox } from "../../lib/notify.js";
import { resultOf } from "../../talk/call.js";
import { texts } from "../../texts.js";

const words = texts.test;

export function callForm(tool) {
  const form = schemaForm(tool.parameters);
  const result = h("div.result", { "aria-live": "polite" });
  const send = h("button.primary", { type: "submit" }, words.call);
  /** `allowed`: the call was allowed as `shown` says, the digest of what the person saw. */
  async function call(allowed = null) {
    const { value, errors } = form.read();
    if (errors.length) return;
    send.disabled = true;
    fill(send, words.calling);
    try {
      fill(result, outcome(await api.post("/api/tools/call", { name: tool.name, server: tool.server || undefined, arguments: value, ...(allowed ? { approved: true, ...allowed } : {}) })));
    } catch (error) {
      if (error.status === undefined) throw error;
      if (error.code === "approval_needed" && !allowed) {
        const { preview = plainPreview(value), shown } = error.body;
        if (await confirmed(words.approveTitle, previewView(preview), words.approve)) await call(shown ? { shown } : {});
        return;
      }
      form.show(error.errors.map((each) => ({ ...each, pointer: each.pointer.replace(/^\/arguments/, "") })));
      fill(result, problemBox(error));
    } finally {
      send.disabled = false;
      fill(send, words.call);
    }
  }
  const element = h("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); call(); } }, form.element, h("div.actions", send), result);
  return element;
}

function outcome(answer) {
  return [h(`p.outcome.outcome-${answer.success ? "good" : "bad"}`, answer.success ? words.success : words.failure,
    Number.isFinite(answer.execution_time_ms) ? h("span.hint", ` ${duration(answer.execution_time_ms)}`) : null), resultOf(answer)];
}
