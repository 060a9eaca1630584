// The dialogs in which a person answers a run: approvals of calls, and questions of servers.

import { texts } from "../texts.js";
import { api } from "../lib/api.js";
import { dialog } from "../lib/dialog.js";
import { field, fill, h } from "../lib/dom.js";
import { schemaForm } from "../lib/form/index.js";
import { toast } from "../lib/notify.js";
import { button, code, details } from "../lib/parts.js";
import { previewView, writtenJson, writtenOut } from "../lib/preview.js";

/**
 * Asks in dialogs, one after another. `address(request)` is where the answer is posted: an answer that the API
 * refuses is told in its dialog, which stays.
 */
export function asker(address, signal) {
  let last = Promise.resolve();
  return (request) => {
    last = last.then(async () => {
      if (signal.aborted || request.closed) return;
      const stop = new AbortController();
      request.close = () => { request.closed = true; stop.abort(); };
      signal.addEventListener("abort", stop.abort.bind(stop), { once: true });
      const send = (answer) => posted(address(request), answer);
      await (request.kind === "approval" ? approval : elicitation)(request, send, stop.signal);
      request.close = () => { request.closed = true; };
    });
    return last;
  };
}

/** "" once it is taken, or was answered elsewhere; else why it is refused. */
async function posted(address, answer) {
  try {
    await api.post(address, answer);
  } catch (error) {
    if (error.status === undefined) throw error;
    if (error.status === 409 || error.status === 404) toast(texts.approval.late);
    else return error.message;
  }
  return "";
}

function faultLine() {
  const element = h("p.field-error", { hidden: true, role: "alert" });
  return { element, tell(text) { element.hidden = !text; fill(element, text); } };
}

function approval(request, send, signal) {
  const words = texts.approval;
  return dialog(words.title(writtenOut(request.tool)), (close) => {
    const reason = h("input", { type: "text", autocomplete: "off" });
    const raw = h("textarea.mono", { rows: 6, spellcheck: "false" });
    raw.value = writtenJson(request.arguments);
    const original = raw.value;
    const fault = faultLine();
    const answer = async (decision) => {
      const more = reason.value.trim() ? { reason: reason.value.trim() } : {};
      if (decision !== "deny" && raw.value !== original) {
        try {
          more.arguments = JSON.parse(raw.value);
        } catch (problem) {
          fault.tell(texts.form.notJson(problem.message));
          return;
        }
      }
      const refused = await send({ decision, ...more });
      if (refused) fault.tell(refused);
      else close(true);
    };
    const choice = (decision, text) => (request.decisions.includes(decision) ? button(text, () => answer(decision)) : null);
    const wider = [choice("allow_always", words.always), choice("allow_conversation", words.conversation)].filter(Boolean);
    const once = h("button.primary", { type: "submit" }, words.once);
    raw.addEventListener("input", () => { // a changed call is shown again before it can be allowed
      const changed = raw.value !== original;
      for (const each of wider) each.hidden = changed;
      fill(once, changed ? words.changed : words.once);
    });
    return h("form", { onsubmit: (event) => { event.preventDefault(); answer("allow_once"); } },
      previewView(request.preview, { focused: true }),
      details(words.edit, field(texts.form.rawLabel, raw)),
      field(words.reason, reason), fault.element,
      h("div.actions",
        button(words.deny, () => answer("deny"), { kind: "danger" }), h("span.spacer"),
        wider, once));
  }, { wide: true, signal });
}

function elicitation(request, send, signal) {
  const words = texts.elicitation;
  return dialog(words.title(request.server), (close) => {
    const form = request.schema ? schemaForm(request.schema, { label: words.fields, plain: true }) : null;
    const fault = faultLine();
    const answer = async (given) => {
      const refused = await send(given);
      if (refused) fault.tell(refused);
      else close(true);
    };
    const accept = () => {
      if (!form) return answer({ action: "accept" });
      const { value, errors } = form.read();
      return errors.length ? undefined : answer({ action: "accept", content: value });
    };
    return h("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); accept(); } },
      h("p.asked-text", request.message), request.tool ? h("p.hint", words.within(request.tool)) : null,
      request.url ? [h("p", words.url), code(request.url, words.address), h("p", h("a.button", { href: request.url, target: "_blank", rel: "noopener noreferrer" }, words.visit))] : null,
      form?.element, fault.element,
      h("div.actions", button(words.cancel, () => answer({ action: "cancel" })), h("span.spacer"),
        button(words.decline, () => answer({ action: "decline" })),
        h("button.primary", { type: "submit" }, request.url ? words.went : words.accept)));
  }, { signal });
}
