// A client of the TypeScript SDK 2.x, in the era that its one argument (JSON) names; prints what it saw (JSON).
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { behave } from "./behaviour.mjs";

const target = JSON.parse(process.argv[2]);
const transports = {
  stdio: () => new StdioClientTransport({ command: target.command[0], args: target.command.slice(1) }),
  http: () => new StreamableHTTPClientTransport(new URL(target.url)),
  sse: () => new SSEClientTransport(new URL(target.url)),
};
const versionNegotiation = { mode: target.modern ? { pin: "2026-07-28" } : "legacy" };
const client = new Client(
  { name: "interop-v2", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation },
);
const asked = [];
client.setRequestHandler("elicitation/create", (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { colour: "green" } };
});
await client.connect(transports[target.transport]());
await behave(client, asked, (params, options) => client.callTool(params, options));
