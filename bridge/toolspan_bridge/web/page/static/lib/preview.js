// What a person is shown of a call before they allow it, as the program that runs it has described it.

import { h } from "./dom.js";

const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u;
const MARK = /[\p{Mn}\p{Mc}]/u;
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;
const MOST_MARKS = 3;
const LINE_STYLES = { "+": "diff-new", "-": "diff-gone", "@": "diff-skip" };

/** `text` with every character that cannot be seen as an escape; line feeds stay. */
export function writtenOut(text) {
  let marks = MOST_MARKS;
  let shown = "";
  for (const each of text) {
    if (BLANK.test(each)) shown += escaped(each);
    else if (MARK.test(each) && marks < MOST_MARKS) { marks += 1; shown += each; }
    else if (each === " " || each === "\n" || SEEN.test(each)) { marks = /\p{L}/u.test(each) ? 0 : MOST_MARKS; shown += each; }
    else shown += escaped(each);
  }
  return shown;
}

const escaped = (character) =>
  [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

/** JSON of `value` in which every character that cannot be seen is an escape: the same value. */
export const writtenJson = (value) => writtenOut(JSON.stringify(value, null, 2) ?? "");

/** A call of which nothing is known but its arguments: all of them. */
export const plainPreview = (args) =>
  ({ title: "", facts: [], warnings: [], sections: [{ kind: "json", label: "arguments", text: writtenJson(args) }] });

/** The element of a preview: its texts as texts, in their order, none of them cut. */
export function previewView(preview, { focused = false } = {}) {
  const line = (kind) => (text) => h(`p.preview-${kind}`, writtenOut(text));
  return h("div.preview", { tabindex: 0, role: "group", autofocus: focused },
    preview.title ? line("title")(preview.title) : null,
    preview.facts.map(line("fact")), preview.warnings.map(line("warning")),
    preview.sections.map((each) => h("div.preview-section",
      h("p.preview-label", writtenOut(each.label)), h("pre", { dir: "ltr" }, each.kind === "diff" ? each.text.split("\n").map(diffLine) : writtenOut(each.text)))));
}

const diffLine = (line) => h(`span.diff-line${LINE_STYLES[line[0]] ? `.${LINE_STYLES[line[0]]}` : ""}`, writtenOut(line), "\n");
