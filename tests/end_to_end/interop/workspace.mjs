// A TypeScript client of a workspace: its one argument (JSON) has the SDK, the transport and the calls to make.
// Prints the names of the tools, the text of each result and the questions that were asked (JSON).
const target = JSON.parse(process.argv[2]);
const asked = [];

function answer(request) {
  const properties = request.params.requestedSchema.properties;
  const content = {};
  for (const [name, field] of Object.entries(properties)) {
    const choices = field.enum ?? (field.oneOf ?? []).map((each) => each.const);
    if (choices.length) content[name] = choices[0];
  }
  asked.push(request.params.message);
  return { action: "accept", content };
}

const connect = { v1, v2 };
const { client, call } = await connect[target.sdk]();
const listed = await client.listTools();
const results = [];
for (const [name, args] of target.calls) {
  const result = await call({ name, arguments: args });
  results.push([name, result.isError === true, result.content.map((block) => block.text ?? "").join("")]);
}
console.log(JSON.stringify({ tools: listed.tools.map((tool) => tool.name), results, asked }));
await client.close();
process.exit(0);

async function v1() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client({ name: "workspace-v1", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, answer);
  await client.connect(transport(StdioClientTransport, StreamableHTTPClientTransport));
  return { client, call: (params) => client.callTool(params) };
}

async function v2() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const versionNegotiation = { mode: target.modern ? { pin: "2026-07-28" } : "legacy" };
  const options = { capabilities: { elicitation: { form: {} } }, versionNegotiation };
  const client = new Client({ name: "workspace-v2", version: "1" }, options);
  client.setRequestHandler("elicitation/create", answer);
  await client.connect(transport(StdioClientTransport, StreamableHTTPClientTransport));
  return { client, call: (params) => client.callTool(params) };
}

function transport(Stdio, Http) {
  if (target.url) return new Http(new URL(target.url));
  return new Stdio({ command: target.command[0], args: target.command.slice(1) });
}
