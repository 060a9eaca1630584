// What a run asks of the person, whatever names its fields have, as one shape.

export const asApproval = (data) => ({
  id: data.request || data.request_id || data.id || data.call_id || data.tool_use_id,
  callId: data.call_id || data.tool_use_id || "",
  tool: data.tool || data.tool_name || "",
  server: data.server || "",
  arguments: data.arguments ?? data.tool_input ?? {},
  reason: typeof data.reason === "string" ? data.reason : "",
});

export const asElicitation = (data) => ({
  id: data.request || data.request_id || data.id,
  server: data.server || "",
  message: data.message || data.text || "",
  schema: data.requested_schema || data.requestedSchema || data.schema || null,
  url: data.url || "",
});
