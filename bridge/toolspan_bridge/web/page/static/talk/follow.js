// The events of a conversation, given to the views of their runs. Each event comes once, through reloads too.

import { path } from "../lib/api.js";
import { follow } from "../lib/events.js";

/**
 * Follows conversation `id`. `viewOf(run)` gives the view of a run, or null for one whose messages are there
 * already. `after` is the id of the last event that is known.
 */
export function followConversation(id, { after = null, viewOf, onState, onProblem, signal }) {
  return follow(path`/api/conversations/${id}/events`, {
    signal, after, onState, onProblem, once: true,
    onEvent: (name, data) => viewOf(data.run ?? null, name, data)?.take(name, data),
  });
}
