// The chat: the list of conversations beside the one that is open.

import { every } from "../../lib/api.js";
import { empty, fill, h } from "../../lib/dom.js";
import { when } from "../../lib/format.js";
import { asked } from "../../lib/notify.js";
import { texts } from "../../texts.js";
import { openConversation } from "./conversation.js";

const words = texts.chat;

export async function mount(root, { rest, signal }) {
  const list = h("div");
  const open = rest[0] || "";
  const show = () => asked(list, () => every("/api/conversations", "conversations", { signal, most: 200 }), (found) => (found.length
    ? h("ul.talks", found.map((each) => h("li", h("a", { href: `#/chat/${encodeURIComponent(each.id)}`, "aria-current": each.id === open ? "page" : null },
      h("span.talk-title", each.title || words.untitled), h("span.hint", when(each.changed || each.updated_at || each.created || each.created_at))))))
    : empty(words.none)));
  const place = h("div.talk");
  fill(root, h(`div.chat${open ? ".chat-open" : ""}`,
    h("aside.talk-list", { "aria-label": words.list }, h("a.button.primary", { href: "#/chat" }, words.new), list), place));
  show();
  await openConversation(place, { id: open, signal, onChange: show });
}
