// Messages that are there already: what was asked, and answered with which calls.

import { h } from "../../lib/dom.js";
import { tokens } from "../../lib/format.js";
import { markdown } from "../../lib/markdown.js";
import { button, details } from "../../lib/parts.js";
import { CallPanel } from "../../talk/call.js";
import { texts } from "../../texts.js";

const words = texts.talk;

export function messages(all, { fork }) {
  let questions = 0;
  return all.map((each) => {
    if (each.role !== "user") return assistantMessage(each);
    questions += 1;
    const count = questions;
    return userMessage(each, () => fork(count));
  });
}

export function userMessage(message, fork = null) {
  const files = message.attachments || [];
  return h("article.message.message-user", h("h2.quiet", words.you), h("p.said", message.text || ""),
    files.length ? h("p.tags", files.map((each) => h("span.tag", each.name || each.media_type || "file"))) : null,
    fork ? h("div.message-actions", button(words.fork, fork, { kind: "small quiet-button" })) : null);
}

function assistantMessage(message) {
  const body = h("div.turns");
  const used = tokens(message.usage);
  if (message.reasoning) body.append(details(words.thinking, h("div.prose", markdown(message.reasoning))));
  if (message.text) body.append(h("div.prose", markdown(message.text)));
  for (const call of message.tool_calls || []) {
    const panel = new CallPanel(call);
    if ("result" in call) panel.finish(call);
    else panel.settle();
    body.append(panel.element);
  }
  if (message.incomplete) body.append(h("p.run-note.run-note-warning", words.incomplete));
  if (message.citations) body.append(h("p.hint", words.sources, " ", message.citations.map((each) => [h("a", { href: each.url, target: "_blank", rel: "noopener noreferrer" }, each.title || each.url), " "])));
  return h("article.message.message-assistant", h("h2.quiet", words.assistant), body,
    message.model || used ? h("p.hint", [message.model, used ? texts.test.tokensOf(used.read, used.written) : ""].filter(Boolean).join(" · ")) : null);
}

