// What a run asks of the person: approvals of calls, and questions of servers.

import { plainPreview } from "../lib/preview.js";

export const asApproval = (data) => ({
  kind: "approval", id: data.request, callId: data.tool_use_id || "", tool: data.tool_name, server: data.server || "",
  arguments: data.tool_input ?? {}, reason: data.reason || "", decisions: data.decisions || [],
  preview: data.preview ?? plainPreview(data.tool_input ?? {}),
});

export const asElicitation = (data) => ({
  kind: "elicitation", id: data.request, callId: "", tool: data.tool_name || "", server: data.server || "", message: data.message || "",
  schema: data.requested_schema || null, url: data.url || "",
});
