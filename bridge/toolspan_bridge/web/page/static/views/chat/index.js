// The chat: the list of conversations beside the one that is open.

import { fill, h } from "../../lib/dom.js";
import { texts } from "../../texts.js";
import { openConversation } from "./conversation.js";
import { conversationList } from "./list.js";

const words = texts.chat;

export async function mount(root, { rest, signal }) {
  const open = rest[0] || "";
  const list = conversationList(open, signal);
  const place = h("div.talk");
  fill(root, h(`div.chat${open ? ".chat-open" : ""}`,
    h("aside.talk-list", { "aria-label": words.list }, h("a.button.primary", { href: "#/chat" }, words.new), list.element), place));
  list.show();
  await openConversation(place, { id: open, signal, onChange: list.show });
}
