// Markdown of models as elements: paragraphs, headings, lists, quotes, code, tables, emphasis and links.
// It builds nodes and never reads markup; a link goes to http, https and mailto addresses only.

import { visible } from "./dom.js";
import { inline } from "./inline.js";

// No two parts of a pattern that stand side by side take the same character: each line is read once.
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
const QUOTE = /^ {0,3}> ?/;
const DELIMITER = /^:?-+:?$/;
const DEEPEST = 12;

/** The blocks of `text` as it is written: [{kind, lines, …}], none of which a later line can change but the last. */
export function blocks(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const found = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) { at += 1; continue; }
    const end = endOf(lines, at);
    found.push(lines.slice(at, end).join("\n"));
    at = end;
  }
  return found;
}

function endOf(lines, start) {
  const fence = FENCE.exec(lines[start]);
  if (fence) {
    const closing = new RegExp(`^ {0,3}${fence[1][0]}{${fence[1].length},}\\s*$`);
    for (let at = start + 1; at < lines.length; at += 1) if (closing.test(lines[at])) return at + 1;
    return lines.length;
  }
  if (HEADING.test(lines[start]) || RULE.test(lines[start])) return start + 1;
  if (ITEM.test(lines[start])) return endOfList(lines, start);
  if (QUOTE.test(lines[start])) {
    let at = start;
    while (at < lines.length && lines[at].trim()) at += 1;
    return at;
  }
  let at = start + 1;
  while (at < lines.length && lines[at].trim() && !begins(lines[at])) at += 1;
  return at;
}

const begins = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);

function endOfList(lines, start) {
  const ordered = /\d/.test(ITEM.exec(lines[start])[2]);
  let at = start + 1;
  let fence = null;
  for (; at < lines.length; at += 1) {
    const line = lines[at];
    const mark = /^\s*(`{3,}|~{3,})/.exec(line);
    if (mark) fence = fence ? (mark[1].startsWith(fence) ? null : fence) : mark[1];
    if (fence || mark) continue;
    if (!line.trim()) {
      let following = at;
      while (following < lines.length && !lines[following].trim()) following += 1;
      if (following === lines.length) break;
      const next = lines[following];
      at = following - 1;
      const item = ITEM.exec(next);
      if (/^\s{2,}/.test(next) || (item && /\d/.test(item[2]) === ordered)) continue;
      break;
    }
    const item = ITEM.exec(line);
    if (item && /\d/.test(item[2]) !== ordered) break;
    if (!item && !/^\s/.test(line) && begins(line)) break;
  }
  return at;
}

/** The text of a heading, without the signs that close it. */
function headingText(written) {
  const text = written.trim();
  let end = text.length;
  while (end && text[end - 1] === "#") end -= 1;
  return text.slice(0, end).trimEnd();
}

/** Whether `line` stands below the head of a table. */
function isDelimiters(line) {
  const cells = line.trim().split("|");
  if (cells.length > 1 && !cells[0].trim()) cells.shift();
  if (cells.length > 1 && !cells[cells.length - 1].trim()) cells.pop();
  return !/^ {4}/.test(line) && cells.every((cell) => DELIMITER.test(cell.trim()));
}

/** The element of one block. */
export function block(text, depth = 0) {
  const lines = text.split("\n");
  const fence = FENCE.exec(lines[0]);
  if (fence) return codeBlock(lines, fence);
  const heading = HEADING.exec(lines[0]);
  if (heading) return make(`h${Math.min(6, heading[1].length + 2)}`, inline(headingText(heading[2])));
  if (RULE.test(lines[0])) return document.createElement("hr");
  if (depth < DEEPEST && QUOTE.test(lines[0])) {
    return make("blockquote", markdown(lines.map((each) => each.replace(QUOTE, "")).join("\n"), depth + 1));
  }
  if (depth < DEEPEST && ITEM.test(lines[0])) return list(lines, depth);
  if (lines.length > 1 && lines[0].includes("|") && isDelimiters(lines[1])) return tableOf(lines);
  return make("p", inline(text));
}

/** The elements of `text`. */
export const markdown = (text, depth = 0) => blocks(text).map((each) => block(each, depth));

function make(tag, children) {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

function codeBlock(lines, fence) {
  const closed = lines.length > 1 && new RegExp(`^ {0,3}${fence[1][0]}{${fence[1].length},}\\s*$`).test(lines.at(-1));
  const body = lines.slice(1, closed ? -1 : undefined).join("\n");
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  if (fence[2].trim().split(/\s/)[0]) pre.dataset.language = visible(fence[2].trim().split(/\s/)[0]).slice(0, 40);
  pre.append(make("code", [visible(body)]));
  return pre;
}

function list(lines, depth) {
  const first = ITEM.exec(lines[0]);
  const ordered = /\d/.test(first[2]);
  const element = document.createElement(ordered ? "ol" : "ul");
  if (ordered && parseInt(first[2], 10) !== 1) element.start = parseInt(first[2], 10);
  const margin = first[1].length + 1;
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length <= margin && (items.length === 0 || item[1].length <= first[1].length + 1)) {
      items.push({ width: item[1].length + item[2].length + 1, lines: [item[4]] });
    } else items.at(-1).lines.push(unindented(line, items.at(-1).width));
  }
  for (const item of items) {
    const parts = markdown(item.lines.join("\n"), depth + 1);
    const tight = parts.length && parts[0].tagName === "P";
    element.append(make("li", tight ? [...parts[0].childNodes, ...parts.slice(1)] : parts));
  }
  return element;
}

const unindented = (line, width) => line.slice(Math.min(width, line.length - line.trimStart().length));

function tableOf(lines) {
  const row = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((each) => each.trim().replaceAll("\\|", "|"));
  const width = row(lines[0]).length;
  const cells = (line, tag) => make("tr", row(line).slice(0, width).map((each) => make(tag, inline(each))));
  const box = make("div", [make("table", [
    make("thead", [cells(lines[0], "th")]),
    make("tbody", lines.slice(2).map((each) => cells(each, "td"))),
  ])]);
  box.className = "table-box";
  box.tabIndex = 0;
  return box;
}

/** A place where Markdown grows: of what is there only the last block is drawn again. */
export class Growing {
  #text = "";
  #drawn = [];

  constructor(element) {
    this.element = element;
  }

  get text() {
    return this.#text;
  }

  add(more) {
    this.set(this.#text + more);
  }

  set(text) {
    this.#text = text;
    const wanted = blocks(text);
    let same = 0;
    while (same < wanted.length && same < this.#drawn.length && wanted[same] === this.#drawn[same]) same += 1;
    while (this.element.childNodes.length > same) this.element.lastChild.remove();
    for (const each of wanted.slice(same)) this.element.append(block(each));
    this.#drawn = wanted;
  }
}
