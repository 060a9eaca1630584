// One conversation: its messages, the answer that is being written, and what one can do with both.

import { api, headers, path } from "../../lib/api.js";
import { confirmed } from "../../lib/dialog.js";
import { append, empty, fill, h } from "../../lib/dom.js";
import { toast, tried } from "../../lib/notify.js";
import { button } from "../../lib/parts.js";
import { asker } from "../../talk/ask.js";
import { followConversation } from "../../talk/follow.js";
import { RunView } from "../../talk/run.js";
import { texts } from "../../texts.js";
import { composer } from "./composer.js";
import { userMessage, messages } from "./messages.js";

const words = texts.chat;

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
    this.composer = composer({ send: (posted) => this.send(posted), stop: () => this.stop() });
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
    const isRunning = found.run?.state === "running" || found.running === true;
    const all = found.messages || [];
    const last = all.findLastIndex((each) => each.role === "user");
    const settled = isRunning && last >= 0 ? all.slice(0, last) : all;
    fill(this.log, messages(settled, { fork: (questions) => this.fork(questions) }));
    if (!all.length && !isRunning) fill(this.log, empty(words.start, words.startHint));
    const again = !isRunning && all.length ? button(texts.talk.retry, () => this.retry(), { kind: "small" }) : null;
    if (again) this.log.append(h("div.after", again));
    this.composer.busy(isRunning);
    fill(this.root, this.head(found), this.log, this.state, this.composer.element);
    this.toEnd(true);
    return isRunning;
  }

  head(found) {
    return h("div.talk-head", h("a.back", { href: "#/chat", "aria-label": words.back }, "←"), h("h1", found.title || words.untitled),
      button(words.rename, () => this.rename(), { kind: "small" }),
      button(words.export, () => this.export(), { kind: "small" }),
      button(texts.remove, () => this.remove(), { kind: "small danger" }));
  }

  listen(found) {
    this.following?.abort();
    this.following = new AbortController();
    const { signal } = this.following;
    this.signal.addEventListener("abort", () => this.following.abort(), { once: true });
    const isRunning = found.run?.state === "running";
    this.run = null;
    this.ask = asker(this.id, signal);
    followConversation(this.id, {
      signal, after: isRunning ? null : found.last_event_id ?? null,
      viewOf: (run, name, data) => this.viewOf(run, name, data),
      onState: (now) => fill(this.state, now === "waiting" ? texts.talk.reconnecting : ""),
      onProblem: (problem) => toast(problem.message, "error"),
    });
  }

  viewOf(run, name, data) {
    if (name === "reset") { this.load(); return null; }
    if (!this.run || this.run.id !== run) {
      if (name === "run_ended") return null;
      this.run = new RunView({ id: run, ask: this.ask, onEnd: () => this.ended() });
      this.log.querySelector(".empty")?.remove();
      this.log.querySelector(".after")?.remove();
      if (!this.log.querySelector(".pending") && data.text) append(this.log, [userMessage({ text: data.text })]);
      this.log.querySelector(".pending")?.classList.remove("pending");
      this.log.append(h("article.message.message-assistant", h("h2.quiet", texts.talk.assistant), this.run.element));
      this.composer.busy(true);
    }
    requestAnimationFrame(() => this.toEnd(false));
    return this.run;
  }

  async ended() {
    this.composer.busy(false);
    this.log.append(h("div.after", button(texts.talk.retry, () => this.retry(), { kind: "small" })));
    this.onChange();
    this.toEnd(false);
  }

  async send(posted) {
    const { model, preset, system, ...message } = posted;
    return tried(async () => {
      if (!this.id) {
        const made = await api.post("/api/conversations", clean({ model, preset, system }));
        await api.post(path`/api/conversations/${made.id}/messages`, message);
        this.onChange();
        location.hash = `#/chat/${encodeURIComponent(made.id)}`;
        return true;
      }
      await api.post(path`/api/conversations/${this.id}/messages`, clean({ ...message, model }));
      return true;
    });
  }

  stop() { return tried(() => api.post(path`/api/conversations/${this.id}/cancel`)); }

  retry() {
    return tried(async () => {
      await api.post(path`/api/conversations/${this.id}/retry`);
      await this.load();
    });
  }

  fork(questions) {
    return tried(async () => {
      const made = await api.post(path`/api/conversations/${this.id}/fork`, { questions });
      toast(words.forked);
      location.hash = `#/chat/${encodeURIComponent(made.id)}`;
    });
  }

  async rename() {
    const { dialog } = await import("../../lib/dialog.js");
    const title = await dialog(words.rename, (close) => {
      const input = h("input", { id: "talk-title", value: this.found.title || "", autofocus: true });
      return h("form", { onsubmit: (event) => { event.preventDefault(); close(input.value.trim()); } },
        h("div.field", h("label", { for: "talk-title" }, words.title2), input), h("div.actions", h("button.primary", { type: "submit" }, texts.save)));
    });
    if (title === null) return;
    await tried(async () => {
      const found = await api.patch(path`/api/conversations/${this.id}`, { title });
      this.root.querySelector("h1").textContent = found.title || words.untitled;
      this.found.title = found.title;
      this.onChange();
    });
  }

  async export() {
    await tried(async () => {
      const response = await fetch(path`/api/conversations/${this.id}/export?format=markdown`, { headers: headers({ Accept: "*/*" }) });
      const link = h("a", { href: URL.createObjectURL(new Blob([await response.text()], { type: "text/markdown" })), download: "conversation.md" });
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  async remove() {
    if (!(await confirmed(words.delete, words.deleteText, texts.remove))) return;
    await tried(async () => {
      await api.remove(path`/api/conversations/${this.id}`);
      location.hash = "#/chat";
    });
  }

  /** Shows the end, unless the reader has scrolled up. */
  toEnd(always) {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    if (always || scrollHeight - scrollTop - clientHeight < 240) this.log.scrollTop = scrollHeight;
  }
}

const clean = (data) => Object.fromEntries(Object.entries(data).filter(([, value]) => value));
