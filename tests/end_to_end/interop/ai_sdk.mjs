// Vercel's AI SDK asks the gateway at argv[2] by each of its providers: a text, a stream, and a tool of its own.
// Prints one JSON object: {provider: {text, stream, steps, called, result}}.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false;
const baseURL = `${process.argv[2]}/v1`;
const name = 'offline/keyword';
const openai = createOpenAI({ baseURL, apiKey: 'none' });
const models = {
  compatible: createOpenAICompatible({ name: 'toolspan', baseURL })(name),
  chat: openai.chat(name),
  responses: openai.responses(name),
  messages: createAnthropic({ baseURL, apiKey: 'none' })(name),
};
const tools = {
  roll_dice: tool({
    description: 'Roll dice with a number of sides',
    inputSchema: z.object({ sides: z.number().optional() }),
    execute: async () => ({ rolled: 4 }),
  }),
};

async function seen(model) {
  const { text } = await generateText({ model, prompt: 'What is the weather of the city of Paris?' });
  let stream = '';
  for await (const piece of streamText({ model, prompt: 'What is the weather of the city of Paris?' }).textStream) stream += piece;
  const rolled = await generateText({ model, prompt: 'Roll dice', tools, stopWhen: stepCountIs(3) });
  const called = rolled.steps.map((step) => step.toolCalls.map((call) => call.toolName));
  return { text, stream, called, result: rolled.text };
}

const all = {};
for (const [provider, model] of Object.entries(models)) all[provider] = await seen(model);
console.log(JSON.stringify(all));
