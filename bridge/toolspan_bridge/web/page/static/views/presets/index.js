// Presets: the list, and the form of the one that is edited.

import { api, path } from "../../lib/api.js";
import { confirmed } from "../../lib/dialog.js";
import { empty, fill, h } from "../../lib/dom.js";
import { when } from "../../lib/format.js";
import { asked, toast, tried } from "../../lib/notify.js";
import { button, heading } from "../../lib/parts.js";
import { modelList, onChange, toolList } from "../../lib/stores.js";
import { texts } from "../../texts.js";
import { presetForm } from "./form.js";

const words = texts.presets;

export function mount(root, { signal }) {
  const place = h("div");
  let builtin = [];
  const show = () => asked(place, async () => {
    const found = await api.get("/api/presets", { signal });
    builtin = found.builtin_tools;
    return found.presets;
  }, (presets) => (presets.length
    ? h("div.cards", presets.map((each) => card(each, () => edit(each), () => remove(each))))
    : empty(words.none, words.noneHint)));

  async function edit(preset) {
    const [tools, { models }] = await Promise.all([toolList().catch(() => []), modelList().catch(() => ({ models: [] }))]);
    fill(place, presetForm({ preset, builtin, tools, models, save: (data) => save(preset, data), cancel: show }));
    place.querySelector("input")?.focus();
  }

  async function save(preset, data) {
    if (preset) await api.put(path`/api/presets/${preset.name}`, data);
    else await api.post("/api/presets", data);
    toast(words.saved);
    await show();
  }

  async function remove(preset) {
    if (!(await confirmed(words.deleteTitle, words.deleteText(preset.name), texts.remove))) return;
    if (await tried(() => api.remove(path`/api/presets/${preset.name}`).then(() => true))) { toast(words.deleted); await show(); }
  }

  fill(root, heading(words.title, words.lead, button(words.new, () => edit(null), { kind: "primary" })), place);
  onChange(["tools_changed", "config_reloaded"], () => { if (!place.querySelector("form")) show(); }, signal);
  return show();
}

const card = (preset, edit, remove) => h("article.card", h("div.card-head", h("h2", preset.name)),
  h("p.card-text", preset.instructions),
  h("p.tags", preset.model ? h("span.tag", preset.model) : null, h("span.tag", `${words.reasoning}: ${preset.default_reasoning_level}`),
    preset.enabled_tools.map((each) => h("span.tag", each))),
  h("p.hint", words.updated(when(preset.updated_at))),
  h("div.actions", button(texts.presets.editing(preset.name), edit, { kind: "small" }), button(texts.remove, remove, { kind: "small danger", "aria-label": `${texts.remove} ${preset.name}` })));
