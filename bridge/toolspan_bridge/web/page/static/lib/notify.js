// Short messages in a corner, read out by screen readers; errors stay until they are closed.

import { texts } from "../texts.js";
import { fill, h } from "./dom.js";

const SHOWN_MS = 6000;

export function toast(text, kind = "info") {
  const box = document.getElementById("toasts");
  const close = () => note.remove();
  const note = h(`div.toast.toast-${kind}`, h("p", text),
    h("button.icon", { type: "button", "aria-label": texts.close, onclick: close }, "×"));
  box.append(note);
  while (box.children.length > 4) box.firstChild.remove();
  if (kind !== "error") setTimeout(close, SHOWN_MS);
}

/** What went wrong, as a box in the page: the problem's words, its places, and `again` where it helps. */
export function problemBox(problem, again = null) {
  const places = (problem.errors || []).map((each) => h("li", h("code", each.pointer || "·"), " ", each.detail || ""));
  const hint = problem.absent ? texts.api.absent : problem.body?.user_action || null;
  return h("div.notice.notice-error", { role: "alert" },
    h("p.notice-title", problem.absent ? texts.api.absentTitle : problem.message),
    hint ? h("p", hint) : null,
    places.length ? h("ul", places) : null,
    problem.code ? h("p.hint", `${texts.api.code} ${problem.code}`) : null,
    again && !problem.absent ? h("button", { type: "button", onclick: again }, texts.again) : null);
}

/** Shows in `place` that something is asked, then what `show` makes of it, or the problem. */
export async function asked(place, ask, show) {
  place.setAttribute("aria-busy", "true");
  if (!place.childElementCount) fill(place, h("p.loading", texts.loading));
  try {
    const answer = await ask();
    fill(place, show(answer));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === undefined) throw error;
    fill(place, problemBox(error, () => asked(place, ask, show)));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** `work`, with its problem as a toast. */
export async function tried(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (error.status === undefined) throw error;
    toast(error.absent ? texts.api.absent : error.message, "error");
    return undefined;
  }
}
