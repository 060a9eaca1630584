// What was measured of a model with a suite: its badge, and every record with what it stands for.

import { api, headers } from "../../lib/api.js";
import { fill, h } from "../../lib/dom.js";
import { percent, when } from "../../lib/format.js";
import { asked, toast } from "../../lib/notify.js";
import { badge, button, table } from "../../lib/parts.js";
import { texts } from "../../texts.js";

const words = texts.validation;

export function historyOf(cell, signal) {
  const place = h("div");
  const { model, suite } = cell;
  asked(place, () => api.get(`/api/validation/history?${new URLSearchParams({ model, suite })}`, { signal }), ({ records }) =>
    table(words.history, [{ title: words.when }, { title: words.badge }, { title: words.n, number: true }, { title: words.rate, number: true }, { title: words.interval, number: true }, { title: words.mode }, { title: words.version }],
      records.toReversed().map((each) => [when(each.last_tested), badge(each.badge), String(each.badge.n), percent(each.badge.rate),
        each.badge.interval ? `${percent(each.badge.interval[0])} – ${percent(each.badge.interval[1])}` : "–",
        each.fingerprint?.mode || "–", [each.fingerprint?.model_version, each.fingerprint ? `toolspan ${each.fingerprint.toolspan}` : null].filter(Boolean).join(" · ") || "–"])));
  return h("section", h("p", badge(cell.badge), " ", h("span.hint", cell.badge.text)),
    cell.badge.changed.length ? h("p.field-warning", words.changed(cell.badge.changed.join(", "))) : null,
    picture(model, suite, signal), h("h3", words.history), place);
}

/** The badge as a picture, with the Markdown that shows it elsewhere. Fetched, for the token. */
function picture(model, suite, signal) {
  const address = `/api/validation/badge?${new URLSearchParams({ model, suite })}`;
  const image = h("img", { alt: words.badgeOf(model, suite) });
  const place = h("div.actions");
  fetch(address, { headers: headers({ Accept: "image/svg+xml" }), signal }).then(async (answer) => {
    if (!answer.ok) return;
    const url = URL.createObjectURL(await answer.blob());
    image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
    image.src = url;
    fill(place, image, button(words.copyBadge, () => copy(`![${words.badgeOf(model, suite)}](${location.origin}${address})`), { kind: "small" }));
  }).catch((error) => { if (error.name !== "AbortError" && !(error instanceof TypeError)) throw error; });
  return place;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(texts.copied);
  } catch {
    toast(texts.notCopied, "error");
  }
}
