// One conversation: its messages, the answer that is being written, and what one can do with both.

import { api, headers, path } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { toast, tried } from "../../lib/notify.js";
import { button } from "../../lib/parts.js";
import { asker } from "../../talk/ask.js";
import { followConversation } from "../../talk/follow.js";
import { RunView } from "../../talk/run.js";
import { texts } from "../../texts.js";
import { composer } from "./composer.js";
import { removed, renamed } from "./list.js";
import { userMessage, messages } from "./messages.js";

const words = texts.chat;
const NEAR_END_PX = 240;

export async function openConversation(root, { id, signal, onChange }) {
  const conversation = new Conversation(root, id, signal, onChange);
  if (id) await conversation.load();
  else conversation.drawNew();
}

class Conversation {
  constructor(root, id, signal, onChange) {
    Object.assign(this, { root, id, signal, onChange });
    this.log = h("div.messages", { tabindex: 0, role: "region", "aria-label": words.title });
    this.state = h("p.connection", { role: "status" });
    this.composer = composer({ send: (posted) => this.send(posted), stop: () => this.stop(), isNew: !id, signal });
  }

  drawNew() {
    fill(this.log, empty(words.start, words.startHint));
    fill(this.root, h("h1.quiet", words.title), this.log, this.composer.element);
  }

  async load() {
    const found = await api.get(path`/api/conversations/${this.id}`, { signal: this.signal });
    if (this.signal.aborted) return;
    this.draw(found);
    this.listen(found);
  }

  draw(found) {
    this.found = found;
    this.composer.choose(found);
    const isRunning = found.run !== null;
    const all = found.messages;
    const last = all.findLastIndex((each) => each.role === "user");
    const settled = isRunning && last >= 0 ? all.slice(0, last) : all;
    this.cut = isRunning ? all[last] : null;
    fill(this.log, messages(settled, { fork: (questions) => this.fork(questions) }));
    if (!all.length && !isRunning) fill(this.log, empty(words.start, words.startHint));
    if (!isRunning && all.length) this.offerRetry();
    this.composer.busy(isRunning);
    fill(this.root, this.head(found), this.log, this.state, this.composer.element);
    this.toEnd(true);
  }

  head(found) {
    this.title = h("h1", found.title || words.untitled);
    return h("div.talk-head", h("a.back", { href: "#/chat", "aria-label": words.back }, "←"), this.title,
      button(words.rename, () => this.rename(), { kind: "small" }),
      button(words.export, () => this.export(), { kind: "small" }),
      button(texts.remove, () => this.remove(), { kind: "small danger" }));
  }

  /** Follows the events after those that are drawn; of a run that goes on, all of them. */
  listen(found) {
    this.following?.abort();
    this.following = new AbortController();
    const { signal } = this.following;
    this.signal.addEventListener("abort", () => this.following.abort(), { once: true });
    this.run = null;
    this.ask = asker((request) => path`/api/conversations/${this.id}/answers/${request.id}`, signal);
    followConversation(this.id, {
      signal, after: found.run ? null : found.last_event_id,
      viewOf: (run, name, data) => this.viewOf(run, name, data),
      onState: (now) => fill(this.state, now === "waiting" ? texts.talk.reconnecting : ""),
      onProblem: (problem) => fill(this.state, problem.message),
    });
  }

  viewOf(run, name, data) {
    if (name === "reset") { this.load(); return null; }
    if (this.run?.id !== run) {
      if (name === "run_ended") return null;
      this.begin(run, data);
    }
    requestAnimationFrame(() => this.toEnd(false));
    return this.run;
  }

  begin(run, data) {
    this.run = new RunView({ id: run, ask: this.ask, onEnd: (ended) => this.ended(ended) });
    this.log.querySelector(".empty")?.remove();
    this.log.querySelector(".after")?.remove();
    if (data.again) this.dropLastAnswer();
    else this.log.append(userMessage(data));
    this.cut = null;
    this.log.append(h("article.message.message-assistant", h("h2.quiet", texts.talk.assistant), this.run.element));
    this.composer.busy(true);
    if (!this.found.title && data.text) fill(this.title, data.text.slice(0, 80));
  }

  /** The last question is asked again: what came of it goes, the question stays. */
  dropLastAnswer() {
    while (this.log.lastElementChild?.classList.contains("message-assistant")) this.log.lastElementChild.remove();
    if (this.cut) this.log.append(userMessage(this.cut));
  }

  async ended() {
    this.composer.busy(false);
    this.onChange();
    if (!document.contains(this.log)) return;
    this.offerRetry();
    this.offerForks();
    this.toEnd(false);
  }

  offerRetry() {
    this.log.append(h("div.after", button(texts.talk.retry, () => this.retry(), { kind: "small" })));
  }

  /** Questions that came live can be forked from, too, once they are answered. */
  offerForks() {
    this.log.querySelectorAll(".message-user").forEach((each, at) => {
      if (!each.querySelector(".message-actions")) each.append(h("div.message-actions", button(texts.talk.fork, () => this.fork(at + 1), { kind: "small quiet-button" })));
    });
  }

  async send(posted) {
    const { model, preset, system, ...message } = posted;
    return tried(async () => {
      if (this.id) {
        await api.post(path`/api/conversations/${this.id}/messages`, clean({ ...message, model }));
        return true;
      }
      const made = await api.post("/api/conversations", clean({ model, preset, system }));
      try {
        await api.post(path`/api/conversations/${made.id}/messages`, message);
      } catch (error) {
        await api.remove(path`/api/conversations/${made.id}`).catch(() => {});
        throw error;
      }
      location.hash = `#/chat/${encodeURIComponent(made.id)}`;
      return true;
    });
  }

  stop() { return tried(() => api.post(path`/api/conversations/${this.id}/cancel`)); }

  retry() { return tried(() => api.post(path`/api/conversations/${this.id}/retry`, clean({ model: this.composer.model }))); }

  fork(questions) {
    return tried(async () => {
      const made = await api.post(path`/api/conversations/${this.id}/fork`, { questions });
      toast(words.forked);
      location.hash = `#/chat/${encodeURIComponent(made.id)}`;
    });
  }

  async rename() {
    const found = await renamed(this.found);
    if (!found) return;
    this.found.title = found.title;
    fill(this.title, found.title || words.untitled);
    this.onChange();
  }

  async export() {
    await tried(async () => {
      const response = await fetch(path`/api/conversations/${this.id}/export?format=markdown`, { headers: headers({ Accept: "*/*" }) });
      if (!response.ok) { toast(texts.api.failed(response.status), "error"); return; }
      const link = h("a", { href: URL.createObjectURL(await response.blob()), download: "conversation.md" });
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  async remove() {
    if (await removed(this.found)) location.hash = "#/chat";
  }

  /** Shows the end, unless the reader has scrolled up. */
  toEnd(always) {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    if (always || scrollHeight - scrollTop - clientHeight < NEAR_END_PX) this.log.scrollTop = scrollHeight;
  }
}

const clean = (data) => Object.fromEntries(Object.entries(data).filter(([, value]) => value));
