// Two texts side by side in one column: what goes, what comes, and what stays around it.

import { texts } from "../texts.js";
import { h } from "./dom.js";

const MOST_LINES = 2000;
const AROUND = 3;

/** [{kind: "same" | "gone" | "new", text}] of two texts, by a longest common subsequence of lines. */
export function lineDiff(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines) => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(end ? a.slice(-end) : []),
  ];
}

function middle(a, b) {
  if (a.length * b.length > MOST_LINES * MOST_LINES / 4) {
    return [...a.map((text) => ({ kind: "gone", text })), ...b.map((text) => ({ kind: "new", text }))];
  }
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j]
        ? longest[(i + 1) * width + j + 1] + 1
        : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push({ kind: "same", text: a[i] }); i += 1; j += 1; }
    else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
      lines.push({ kind: "gone", text: a[i] }); i += 1;
    } else { lines.push({ kind: "new", text: b[j] }); j += 1; }
  }
  return lines;
}

const SIGNS = { same: " ", gone: "−", new: "+" };

/** The difference as an element; lines far from any change are counted, not shown. */
export function diffView(before, after, label = texts.diff.label) {
  const lines = lineDiff(before, after);
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((each) => each.kind !== "same"));
  const shown = [];
  let hidden = 0;
  const flush = () => { if (hidden) shown.push(h("div.diff-skip", texts.diff.unchanged(hidden))); hidden = 0; };
  lines.forEach((each, at) => {
    if (!near[at]) { hidden += 1; return; }
    flush();
    shown.push(h(`div.diff-line.diff-${each.kind}`,
      h("span.diff-sign", SIGNS[each.kind]),
      each.kind === "same" ? null : h("span.quiet", texts.diff[each.kind]), each.text));
  });
  flush();
  return h("div.diff", { tabindex: 0, role: "region", "aria-label": label }, shown);
}

/** The edit that a call's arguments mean: {path, before, after}, or null: pairs of old and new text, or content. */
export function editOf(args) {
  if (!args || typeof args !== "object") return null;
  const before = args.old_string ?? args.old_str ?? args.old_text ?? args.oldText;
  const after = args.new_string ?? args.new_str ?? args.new_text ?? args.newText;
  const path = args.file_path ?? args.path ?? "";
  if (typeof before === "string" && typeof after === "string") return { path: String(path), before, after };
  if (Array.isArray(args.edits)) {
    const edits = args.edits.map(editOf);
    if (edits.length && edits.every(Boolean)) {
      return {
        path: String(path),
        before: edits.map((each) => each.before).join("\n⋯\n"),
        after: edits.map((each) => each.after).join("\n⋯\n"),
      };
    }
  }
  if (path && typeof args.content === "string") return { path: String(path), before: "", after: args.content };
  return null;
}
