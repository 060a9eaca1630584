// A client of the TypeScript SDK 1.x: does what its one argument (JSON) says, prints what it saw (JSON).
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { behave } from "./behaviour.mjs";

const target = JSON.parse(process.argv[2]);
const transports = {
  stdio: () => new StdioClientTransport({ command: target.command[0], args: target.command.slice(1) }),
  http: () => new StreamableHTTPClientTransport(new URL(target.url)),
  sse: () => new SSEClientTransport(new URL(target.url)),
};
const client = new Client({ name: "interop-v1", version: "1" }, { capabilities: { elicitation: { form: {} } } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { colour: "green" } };
});
await client.connect(transports[target.transport]());
await behave(client, asked, (params, options) => client.callTool(params, undefined, options));
