// Numbers, times and JSON as people read them.

const number = new Intl.NumberFormat("en");
const dateTime = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

const timeOfDay = new Intl.DateTimeFormat("en", { timeStyle: "short" });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });

export const count = (value) => (Number.isFinite(value) ? number.format(value) : "–");

export const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;

export function duration(ms) {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function money(usd) {
  if (!Number.isFinite(usd)) return "–";
  if (usd === 0) return "$0";
  return `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}

export const percent = (rate) => (Number.isFinite(rate) ? `${Math.round(rate * 100)} %` : "–");

/** An ISO time, or seconds since 1970, as the reader's clock has it. */
export function when(value) {
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? "–" : dateTime.format(date);
}

/** The same, short: the time of today, else the day. */
export function whenShort(value) {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return "–";
  return date.toDateString() === new Date().toDateString() ? timeOfDay.format(date) : day.format(date);
}

/** JSON to read: indented; of a text its own words. */
export const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");

/** JSON on one line, cut at `most` characters. */
export function brief(value, most = 120) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Arguments of a call as it is written: name=value, … */
export function callArguments(value, most = 160) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return brief(value, most);
  const text = Object.entries(value).map(([key, each]) => `${key}=${JSON.stringify(each)}`).join(", ");
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export const tokens = (usage) => {
  if (!usage) return null;
  const read = usage.input_tokens ?? usage.input ?? 0;
  const written = usage.output_tokens ?? usage.output ?? 0;
  return read || written ? { read, written } : null;
};
