// What every TypeScript client does, whichever SDK it is of. Prints one line of JSON and exits.

export async function behave(client, asked, call) {
  const listed = await client.listTools();
  const added = await call({ name: "add", arguments: {} });
  const progress = [];
  const heard = (step) => progress.push([step.progress, step.total, step.message]);
  client.onerror = (error) => late(error).forEach(heard);
  const counted = await call({ name: "count", arguments: {} }, { onprogress: heard });
  const painted = await call({ name: "paint", arguments: { thing: "door" } });
  const prompt = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
  const resource = await client.readResource({ uri: "notes://welcome" });
  const seen = {
    tools: listed.tools.map((tool) => tool.name),
    add: text(added),
    count: text(counted),
    progress,
    paint: text(painted),
    asked,
    cancelled: await cancelled(call),
    afterwards: text(await call({ name: "add", arguments: {} })),
    prompt: prompt.messages[0].content.text,
    resource: resource.contents[0].text,
  };
  console.log(JSON.stringify(seen));
  await client.close();
  process.exit(0);
}

// The SDKs forget who listens when a result arrives, but hand a progress on in a later microtask: one that
// was read in one piece with its result reaches onerror alone. It arrived all the same.
function late(error) {
  const [, ...notifications] = error.message.split("progress notification for an unknown token: ");
  return notifications.map((notification) => JSON.parse(notification).params);
}

function text(result) {
  return result.content.map((block) => block.text).join("");
}

// Gives up a call that reports progress, once it has: then it is certain to run.
async function cancelled(call) {
  const abort = new AbortController();
  const options = { signal: abort.signal, onprogress: () => abort.abort("enough") };
  try {
    await call({ name: "wait", arguments: {} }, options);
    return false;
  } catch {
    return true;
  }
}
