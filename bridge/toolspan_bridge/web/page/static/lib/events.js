// A stream of server-sent events that goes on where it was: each event is given once, whatever breaks.
// Of fetch rather than EventSource, for the token, for problem details, and for a Last-Event-ID of our own.

import { headers, problemOf } from "./api.js";

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 10_000;

/** Frames of an event stream, as its text arrives (WHATWG HTML, section 9.2.6). */
export class Frames {
  #rest = "";

  /** The whole events in what has come: {id, event, data}. */
  read(chunk) {
    this.#rest += chunk;
    const blocks = this.#rest.split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = blocks.pop();
    return blocks.map(frame).filter((each) => each.data !== "" || each.id !== null);
  }
}

function frame(block) {
  const found = { id: null, event: "message", data: "" };
  const data = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line === "" || line.startsWith(":")) continue;
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") found.event = value;
    else if (name === "id") found.id = value;
  }
  found.data = data.join("\n");
  return found;
}

/** Whether `id` comes after `last`: numbers by size, other ids when they differ. */
function isNew(id, last) {
  if (id === null || last === null) return true;
  const [a, b] = [Number(id), Number(last)];
  return Number.isFinite(a) && Number.isFinite(b) ? a > b : id !== last;
}

/**
 * Follows `path` until `signal` ends it: `onEvent(name, data, id)`, `onState("open" | "waiting")`,
 * `onProblem(problem)` for what the API refuses, after which it is over.
 * `once`: ids only grow, and what is not newer than the last is left out.
 * A hidden tab holds no connection (browsers allow six to a host); it goes on when it is seen again.
 */
export async function follow(path, { signal, after = null, once = false, onEvent, onState = () => {}, onProblem = () => {} }) {
  let last = after;
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    await untilSeen(signal);
    if (signal.aborted) return;
    const connection = new AbortController();
    const end = () => connection.abort();
    const hidden = () => { if (document.hidden) end(); };
    signal.addEventListener("abort", end);
    document.addEventListener("visibilitychange", hidden);
    try {
      const more = last === null ? {} : { "Last-Event-ID": String(last) };
      const response = await fetch(path, {
        signal: connection.signal,
        cache: "no-store",
        headers: headers({ Accept: "text/event-stream", ...more }),
      });
      if (response.status === 204) return;
      if (!response.ok) {
        const problem = await problemOf(response);
        if (problem.status < 500 && problem.status !== 429) return onProblem(problem);
        throw problem;
      }
      onState("open");
      const frames = new Frames();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        for (const each of frames.read(value)) {
          wait = FIRST_WAIT_MS;
          if (once && !isNew(each.id, last)) continue;
          if (each.id !== null) last = each.id;
          if (each.data !== "") deliver(each, onEvent);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TypeError) && error.name !== "AbortError" && !error.status) console.error(error);
    } finally {
      signal.removeEventListener("abort", end);
      document.removeEventListener("visibilitychange", hidden);
    }
    if (signal.aborted) return;
    if (!document.hidden) onState("waiting");
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

function deliver(each, onEvent) {
  let data;
  try {
    data = JSON.parse(each.data);
  } catch {
    data = { text: each.data };
  }
  onEvent(each.event, data, each.id);
}

function untilSeen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const seen = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", seen);
      resolve();
    };
    document.addEventListener("visibilitychange", seen);
    signal.addEventListener("abort", seen, { once: true });
  });
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
