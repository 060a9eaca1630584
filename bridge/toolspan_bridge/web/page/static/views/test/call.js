// A tool called by hand: the form of its parameters, and what came of the call.

import { api } from "../../lib/api.js";
import { confirmed } from "../../lib/dialog.js";
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
  async function call(approved = false) {
    const { value, errors } = form.read();
    if (errors.length) return;
    send.disabled = true;
    fill(send, words.calling);
    try {
      fill(result, outcome(await api.post("/api/tools/call", { name: tool.name, server: tool.server || undefined, arguments: value, ...(approved ? { approved: true } : {}) })));
    } catch (error) {
      if (error.status === undefined) throw error;
      if (error.code === "approval_needed" && !approved) {
        if (await confirmed(words.approveTitle, words.approveText(tool.name), words.approve)) await call(true);
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
