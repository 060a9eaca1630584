// The dialogs in which a person answers a run: approvals of calls, and questions of servers.

import { texts } from "../texts.js";
import { api, path } from "../lib/api.js";
import { dialog } from "../lib/dialog.js";
import { diffView, editOf } from "../lib/diff.js";
import { field, h } from "../lib/dom.js";
import { schemaForm } from "../lib/form/index.js";
import { toast } from "../lib/notify.js";
import { button, code, details } from "../lib/parts.js";

/** Asks in dialogs, one after another, and sends the answers of conversation `id`. */
export function asker(id, signal) {
  let last = Promise.resolve();
  return (kind, request) => {
    last = last.then(async () => {
      if (signal.aborted || request.closed) return;
      const stop = new AbortController();
      request.close = () => { request.closed = true; stop.abort(); };
      signal.addEventListener("abort", request.close, { once: true });
      const answer = await (kind === "approval" ? approval : elicitation)(request, stop.signal);
      request.close = () => { request.closed = true; };
      if (!answer || request.closed) return;
      try {
        await api.post(path`/api/conversations/${id}/answers/${request.id}`, answer);
      } catch (error) {
        if (error.status === undefined) throw error;
        if (error.status !== 409 && error.status !== 404) toast(error.message, "error");
      }
    });
    return last;
  };
}

function approval(request, signal) {
  const words = texts.approval;
  return dialog(words.title(request.tool), (close) => {
    const reason = h("input", { type: "text", autocomplete: "off" });
    const raw = h("textarea.mono", { rows: 6, spellcheck: "false" });
    raw.value = JSON.stringify(request.arguments, null, 2);
    const original = raw.value;
    const edit = editOf(request.arguments);
    const error = h("p.field-error", { hidden: true, role: "alert" });
    const answer = (decision) => {
      const more = reason.value.trim() ? { reason: reason.value.trim() } : {};
      if (decision !== "deny" && raw.value !== original) {
        try {
          more.arguments = JSON.parse(raw.value);
        } catch (problem) {
          error.hidden = false;
          error.textContent = texts.form.notJson(problem.message);
          return;
        }
      }
      close({ decision, ...more });
    };
    return h("form", { onsubmit: (event) => { event.preventDefault(); answer("allow_once"); } },
      h("p", words.lead(request.server)), request.reason ? h("p.hint", request.reason) : null,
      edit ? [h("p", h("code", edit.path)), diffView(edit.before, edit.after)] : code(request.arguments, texts.talk.arguments),
      details(words.edit, field(texts.form.rawLabel, raw), error),
      field(words.reason, reason),
      h("div.actions",
        button(words.deny, () => answer("deny"), { kind: "danger" }), h("span.spacer"),
        button(words.always, () => answer("allow_always")),
        button(words.conversation, () => answer("allow_conversation")),
        h("button.primary", { type: "submit", autofocus: true }, words.once)));
  }, { wide: true, signal });
}

function elicitation(request, signal) {
  const words = texts.elicitation;
  return dialog(words.title(request.server), (close) => {
    const form = request.schema ? schemaForm(request.schema, { label: words.fields }) : null;
    const send = () => {
      if (!form) return close({ action: "accept" });
      const { value, errors } = form.read();
      return errors.length ? undefined : close({ action: "accept", content: value });
    };
    return h("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); send(); } },
      h("p.asked-text", request.message),
      request.url ? [h("p", words.url), h("p", h("a", { href: request.url, target: "_blank", rel: "noopener noreferrer" }, request.url))] : null,
      form?.element,
      h("div.actions", button(texts.cancel, () => close({ action: "cancel" })), h("span.spacer"),
        button(words.decline, () => close({ action: "decline" })),
        h("button.primary", { type: "submit" }, request.url ? words.went : words.accept)));
  }, { signal });
}
