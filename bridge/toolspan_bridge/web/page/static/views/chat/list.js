// The list of conversations: searched, page after page, each renamed and deleted where it stands.

import { api, path } from "../../lib/api.js";
import { confirmed, dialog } from "../../lib/dialog.js";
import { empty, fill, h } from "../../lib/dom.js";
import { whenShort } from "../../lib/format.js";
import { asked, toast, tried } from "../../lib/notify.js";
import { button } from "../../lib/parts.js";
import { texts } from "../../texts.js";

const words = texts.chat;
const PAGE = "30";
const WAIT_MS = 250;

/** {element, show()}: `open` is the conversation that is open. */
export function conversationList(open, signal) {
  const list = h("div");
  const search = h("input", { type: "search", placeholder: words.search, "aria-label": words.search, oninput: typed });
  let shown = [];
  let next = null;
  let timer = null;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const page = async (cursor) => {
    const query = new URLSearchParams({ limit: PAGE, search: search.value.trim(), ...(cursor ? { cursor } : {}) });
    const found = await api.get(`/api/conversations?${query}`, { signal });
    shown = [...(cursor ? shown : []), ...found.conversations];
    next = found.next_cursor;
  };
  const show = () => asked(list, () => page(null), drawn);
  const drawn = () => (shown.length
    ? [h("ul.talks", shown.map(row)), next ? button(words.older, () => asked(list, () => page(next), drawn), { kind: "small" }) : null]
    : empty(search.value ? words.noMatch : words.none));
  function typed() {
    clearTimeout(timer);
    timer = setTimeout(show, WAIT_MS);
  }
  function row(each) {
    const title = each.title || words.untitled;
    return h("li", h("a", { href: `#/chat/${encodeURIComponent(each.id)}`, "aria-current": each.id === open ? "page" : null },
      h("span.talk-title", title), h("span.hint", whenShort(each.changed), each.run ? ` · ${texts.talk.running}` : "")),
    h("span.talk-actions",
      button("✎", async () => { if (await renamed(each)) { toast(words.renamed); show(); } }, { kind: "icon", "aria-label": `${words.rename}: ${title}` }),
      button("×", async () => { if (await removed(each)) { if (each.id === open) location.hash = "#/chat"; else show(); } }, { kind: "icon", "aria-label": `${texts.remove}: ${title}` })));
  }
  return { element: h("div.talk-list-inner", h("div.filter", search), list), show };
}

/** Asks for another title; the conversation with it, or null. */
export async function renamed(conversation) {
  const title = await dialog(words.rename, (close) => {
    const input = h("input", { id: "talk-title", value: conversation.title || "", maxlength: 200, autofocus: true });
    return h("form", { onsubmit: (event) => { event.preventDefault(); close(input.value.trim()); } },
      h("div.field", h("label", { for: "talk-title" }, words.name), input), h("div.actions", h("button.primary", { type: "submit" }, texts.save)));
  });
  if (title === null) return null;
  return (await tried(() => api.patch(path`/api/conversations/${conversation.id}`, { title }))) || null;
}

/** Deletes it, once that is confirmed; whether it is gone. */
export async function removed(conversation) {
  if (!(await confirmed(words.delete, words.deleteText(conversation.title || words.untitled), texts.remove))) return false;
  return Boolean(await tried(() => api.remove(path`/api/conversations/${conversation.id}`).then(() => true)));
}
