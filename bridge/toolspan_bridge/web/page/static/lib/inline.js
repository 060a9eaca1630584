// What is inside a line of Markdown: code, emphasis, links. Everything else is text.

import { visible } from "./dom.js";

const SAFE = /^(https?:\/\/|mailto:)/i;
const ESCAPED = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const ADDRESS = /^https?:\/\/[^\s<>"'`]+/i;

/** The nodes of `text`, in time that grows with its length. */
export function inline(text, depth = 0) {
  const nodes = [];
  let plain = "";
  const flush = () => { if (plain) nodes.push(document.createTextNode(visible(plain))); plain = ""; };
  let at = 0;
  while (at < text.length) {
    const found = depth < 8 ? part(text, at, depth) : null;
    if (!found) {
      plain += text[at];
      at += 1;
      continue;
    }
    flush();
    nodes.push(found.node);
    at = found.end;
  }
  flush();
  return nodes;
}

function part(text, at, depth) {
  const char = text[at];
  if (char === "\\" && ESCAPED.includes(text[at + 1] || "x")) {
    return { node: document.createTextNode(text[at + 1]), end: at + 2 };
  }
  if (char === "\n") return hardBreak(text, at);
  if (char === "`") return codeSpan(text, at);
  if (char === "*" || char === "_" || char === "~") return emphasis(text, at, depth);
  if (char === "[" || (char === "!" && text[at + 1] === "[")) return link(text, at, depth);
  if (char === "<") return autolink(text, at);
  if (char === "h" && !/\w/.test(text[at - 1] || "")) return bare(text, at);
  return null;
}

function hardBreak(text, at) {
  return /( {2}|\\)$/.test(text.slice(Math.max(0, at - 2), at)) ? { node: document.createElement("br"), end: at + 1 } : null;
}

function codeSpan(text, at) {
  const mark = /^`+/.exec(text.slice(at, at + 100))[0];
  let end = text.indexOf(mark, at + mark.length);
  while (end >= 0 && text[end + mark.length] === "`") {
    while (text[end] === "`") end += 1;
    end = text.indexOf(mark, end);
  }
  if (end < 0) return { node: document.createTextNode(mark), end: at + mark.length };
  const node = document.createElement("code");
  const code = text.slice(at + mark.length, end).replace(/\n/g, " ");
  const padded = code.length > 2 && code.startsWith(" ") && code.endsWith(" ") && code.trim();
  node.textContent = visible(padded ? code.slice(1, -1) : code);
  return { node, end: end + mark.length };
}

function emphasis(text, at, depth) {
  const char = text[at];
  const size = text[at + 1] === char ? 2 : 1;
  if (char === "~" && size === 1) return null;
  const mark = char.repeat(size);
  const from = at + size;
  if (/\s/.test(text[from] || " ")) return null;
  if (char === "_" && /\w/.test(text[at - 1] || "")) return null;
  const end = closing(text, from, mark);
  if (end < 0) return null;
  const node = document.createElement(char === "~" ? "s" : size === 2 ? "strong" : "em");
  node.append(...inline(text.slice(from, end), depth + 1));
  return { node, end: end + size };
}

function closing(text, from, mark) {
  const limit = Math.min(text.length, from + 4000);
  for (let at = text.indexOf(mark, from + 1); at >= 0 && at < limit; at = text.indexOf(mark, at + 1)) {
    if (/\s/.test(text[at - 1]) || text[at - 1] === "\\") continue;
    if (mark.length === 1 && text[at + 1] === mark) { at += 1; continue; }
    if (mark[0] === "_" && /\w/.test(text[at + mark.length] || "")) continue;
    return at;
  }
  return -1;
}

function link(text, at, depth) {
  const picture = text[at] === "!";
  const from = at + (picture ? 2 : 1);
  const middle = closingBracket(text, from);
  if (middle < 0 || text[middle + 1] !== "(") return null;
  const end = text.indexOf(")", middle + 2);
  if (end < 0 || end - middle > 3000) return null;
  const address = text.slice(middle + 2, end).trim().split(/\s+/)[0].replace(/^<|>$/g, "");
  const words = inline(text.slice(from, middle), depth + 1);
  if (!SAFE.test(address)) return { node: spanOf([...words, ` (${visible(address)})`]), end: end + 1 };
  return { node: anchor(address, words.length ? words : [visible(address)]), end: end + 1 };
}

function closingBracket(text, from) {
  let open = 0;
  for (let at = from; at < text.length && at < from + 2000; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[") open += 1;
    else if (text[at] === "]") { if (open === 0) return at; open -= 1; }
  }
  return -1;
}

function autolink(text, at) {
  const end = text.indexOf(">", at);
  const address = end > 0 && end - at < 2000 ? text.slice(at + 1, end) : "";
  return SAFE.test(address) && !/\s/.test(address) ? { node: anchor(address, [visible(address)]), end: end + 1 } : null;
}

function bare(text, at) {
  const found = ADDRESS.exec(text.slice(at, at + 2000));
  if (!found) return null;
  const address = found[0].replace(/[.,;:!?)\]}*_]+$/, "");
  return { node: anchor(address, [visible(address)]), end: at + address.length };
}

function anchor(address, children) {
  const node = document.createElement("a");
  node.href = address;
  node.rel = "noopener noreferrer";
  node.target = "_blank";
  node.append(...children);
  return node;
}

function spanOf(children) {
  const node = document.createElement("span");
  node.append(...children);
  return node;
}
