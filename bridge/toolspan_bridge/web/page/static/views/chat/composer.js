// Where a message is written: its text, files, and for a new conversation model, preset and instructions.

import { api } from "../../lib/api.js";
import { field, fill, h } from "../../lib/dom.js";
import { modelSelect } from "../../lib/model-select.js";
import { toast } from "../../lib/notify.js";
import { button, details } from "../../lib/parts.js";
import { texts } from "../../texts.js";

const words = texts.chat;
const MOST_BYTES = 2_900_000; // of all files: in base64 they fit into a body of 4 MiB

/** `isNew`: no conversation is there yet, so that preset and instructions can be chosen. */
export function composer({ send, stop, isNew, signal }) {
  let files = [];
  const models = modelSelect({ id: "chat-model", signal, optional: words.anyModel });
  const system = h("textarea", { rows: 3, maxlength: 100_000 });
  const presets = h("select", { id: "chat-preset" }, h("option", { value: "" }, words.noPreset));
  const text = h("textarea", { rows: 2, placeholder: words.placeholder, "aria-label": words.message, onkeydown: keys, oninput: grow, onpaste: pasted });
  const attached = h("p.tags");
  const picker = h("input.quiet", { type: "file", multiple: true, tabindex: -1, "aria-hidden": "true", onchange: attach });
  const sendButton = h("button.primary", { type: "submit" }, words.send);
  const stopButton = button(texts.talk.stop, stop, { hidden: true });
  if (isNew) {
    api.get("/api/presets", { signal }).then((found) => presets.append(...found.presets.map((each) => h("option", { value: each.name }, each.name))))
      .catch((problem) => { if (problem.name !== "AbortError") presets.disabled = true; });
  }

  function keys(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  }

  function grow() {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight + 2, 240)}px`;
  }

  async function attach() {
    await take([...picker.files]);
    picker.value = "";
  }

  async function take(given) {
    for (const file of given) {
      const before = files.reduce((sum, each) => sum + each.data.length * 0.75, 0);
      if (before + file.size > MOST_BYTES) { toast(words.tooBig(file.name), "error"); continue; }
      files.push({ name: file.name, media_type: file.type || "application/octet-stream", data: await base64(file) });
    }
    showFiles();
  }

  function pasted(event) {
    const given = [...(event.clipboardData?.files || [])];
    if (!given.length) return;
    event.preventDefault();
    take(given);
  }

  const showFiles = () => fill(attached, files.map((each) => h("span.tag", each.name,
    h("button.icon", { type: "button", "aria-label": words.detach(each.name), onclick: () => { files = files.filter((one) => one !== each); showFiles(); } }, "×"))));

  async function submit() {
    const asked = text.value.trim();
    if (!asked || sendButton.disabled) return;
    sendButton.disabled = true;
    const done = await send({ text: asked, model: models.value, preset: presets.value, system: system.value.trim(), ...(files.length ? { attachments: files } : {}) });
    sendButton.disabled = false;
    if (!done) return;
    text.value = "";
    files = [];
    showFiles();
    grow();
  }

  const drop = (event) => { event.preventDefault(); take([...event.dataTransfer.files]); };
  const element = h("form.composer", { onsubmit: (event) => { event.preventDefault(); submit(); }, ondragover: (event) => event.preventDefault(), ondrop: drop }, attached, text,
    h("div.composer-row", button(words.attach, () => picker.click(), { kind: "small" }), picker,
      h("label.inline", { for: "chat-model" }, texts.model.label), models.element,
      isNew ? h("span.preset-choice", h("label.inline", { for: "chat-preset" }, words.preset), presets) : null, h("span.spacer"), stopButton, sendButton),
    isNew ? details(words.system, field(words.systemLabel, system)) : null, h("p.hint", words.keys));
  return {
    element,
    get model() { return models.value; },
    busy(is) { sendButton.hidden = is; stopButton.hidden = !is; },
    choose({ model }) { models.choose(model || ""); },
  };
}

const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});
