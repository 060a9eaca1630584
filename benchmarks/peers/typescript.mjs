// The same tools on the TypeScript SDK 1.x, as its stateless example shows it.
// node typescript.mjs FOLDER stdio; node typescript.mjs FOLDER http PORT (FOLDER has the node_modules)
import { createRequire } from "node:module";

const [folder, transport, port] = process.argv.slice(2);
const require = createRequire(folder + "/");
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { z } = require("zod");

function makeServer() {
  const server = new McpServer({ name: "typescript", version: "1.0.0" });
  const text = (value) => ({ content: [{ type: "text", text: value }] });
  server.registerTool("echo", { description: "Gives the text back.", inputSchema: { text: z.string() } },
    async ({ text: given }) => text(JSON.stringify({ text: given })));
  server.registerTool("add", { description: "Adds two numbers.", inputSchema: { a: z.number(), b: z.number() } },
    async ({ a, b }) => text(String(a + b)));
  server.registerTool("greet", { description: "Greets someone.", inputSchema: { name: z.string() } },
    async ({ name }) => text(`Hello, ${name}!`));
  return server;
}

if (transport === "stdio") {
  const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
  await makeServer().connect(new StdioServerTransport());
} else {
  const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const express = require("express");
  const app = express();
  app.use(express.json());
  app.post("/mcp", async (request, response) => {
    const server = makeServer();
    const incoming = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on("close", () => { incoming.close(); server.close(); });
    await server.connect(incoming);
    await incoming.handleRequest(request, response, request.body);
  });
  app.listen(Number(port), "127.0.0.1");
}
