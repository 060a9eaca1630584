// Vercel's AI SDK asks the gateway at argv[2] by each of its providers: a text, a stream, tools of its own over
// several steps, an object, and a model that does not exist. Prints one JSON object: {provider: {…}}.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false;
const baseURL = `${process.argv[2]}/v1`;
const openai = createOpenAI({ baseURL, apiKey: 'none' });
const compatible = createOpenAICompatible({ name: 'toolspan', baseURL, supportsStructuredOutputs: true });
const providers = {
  compatible,
  chat: openai.chat,
  responses: openai.responses,
  messages: createAnthropic({ baseURL, apiKey: 'none' }),
};
const tools = {
  roll_dice: tool({
    description: 'Roll dice with a number of sides',
    inputSchema: z.object({ sides: z.number().optional() }),
    execute: async () => ({ rolled: 4 }),
  }),
};

async function steps(provider) {
  const asked = { model: provider('scripted/script.yaml'), tools, stopWhen: stepCountIs(5) };
  const whole = await generateText({ ...asked, prompt: 'dice and weather' });
  const messages = [{ role: 'user', content: 'dice and weather' }, ...whole.response.messages];
  const next = await generateText({ ...asked, messages: [...messages, { role: 'user', content: 'And then?' }] });
  const streamed = streamText({ ...asked, prompt: 'dice and weather' });
  await streamed.consumeStream();
  const told = (all) => all.map((step) => [step.text, step.finishReason, step.toolResults.map((each) => each.output.rolled)]);
  return { whole: told(whole.steps), streamed: told(await streamed.steps), next: next.text };
}

async function object(provider) {
  const output = Output.object({ schema: z.object({ sides: z.number() }) });
  const asked = { model: provider('scripted/script.yaml'), output, prompt: 'as an object' };
  const streamed = streamText(asked);
  await streamed.consumeStream();
  return [(await generateText(asked)).output, await streamed.output];
}

async function refused(provider) {
  try {
    await generateText({ model: provider('nobody'), prompt: 'Hi', maxRetries: 0 });
  } catch (error) {
    return [APICallError.isInstance(error), error.statusCode, error.isRetryable, error.message.includes('does not exist')];
  }
}

async function seen(provider) {
  const model = provider('offline/keyword');
  const { text } = await generateText({ model, prompt: 'What is the weather of the city of Paris?' });
  let stream = '';
  for await (const piece of streamText({ model, prompt: 'What is the weather of the city of Paris?' }).textStream) stream += piece;
  const rolled = await generateText({ model, prompt: 'Roll dice', tools, stopWhen: stepCountIs(3) });
  const called = rolled.steps.map((step) => step.toolCalls.map((call) => call.toolName));
  const more = { steps: await steps(provider), object: await object(provider), refused: await refused(provider) };
  return { text, stream, called, result: rolled.text, ...more };
}

const all = {};
for (const [name, provider] of Object.entries(providers)) all[name] = await seen(provider);
console.log(JSON.stringify(all));
