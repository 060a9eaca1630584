// What each wire format makes of a tool, with what it cannot express.

import { api, path } from "../../lib/api.js";
import { h } from "../../lib/dom.js";
import { asked } from "../../lib/notify.js";
import { code, table } from "../../lib/parts.js";
import { tabs } from "../../lib/tabs.js";
import { texts } from "../../texts.js";

const words = texts.test;

export function payloads(tool) {
  const place = h("div");
  asked(place, () => api.get(path`/api/tools/${tool.server || "-"}/${tool.name}/payloads`), (found) =>
    tabs(words.payloads, found.payloads.map((each) => ({ title: each.format, build: () => one(each) }))));
  return place;
}

const one = ({ format, payload, losses = [] }) => [
  h("p.hint", words.losses(losses.length)),
  losses.length ? table(words.lossTable, [{ title: words.pointer }, { title: words.rule }, { title: words.repair }],
    losses.map((each) => [h("code", each.pointer), each.rule, each.repair])) : null,
  code(payload, format),
];
