// Uses the client that openapi-generator makes for TypeScript: a token, a push, an entry, a read.
import * as mudra from "./client/index";

declare const process: { stdin: AsyncIterable<Uint8Array> };

async function main(): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of process.stdin) text += decoder.decode(chunk, { stream: true });
  const given = JSON.parse(text);

  const anyone = new mudra.Configuration({ basePath: given.root });
  const refused = await new mudra.RegistryApi(anyone)
    .listEntries({ entityType: "AA" })
    .then(() => 200, (error: mudra.ResponseError) => error.response.status);
  const token = await new mudra.TokensApi(anyone).generateEntityAccessToken({
    id: given.entityId,
    secret: given.secret,
  });
  const known = new mudra.Configuration({ basePath: given.root, accessToken: token.accessToken });
  const window = mudra.PushMetricsRequestFromJSON(given.push);
  const pushed = await new mudra.NetworkMetricsApi(known).pushMetrics({ pushMetricsRequest: window });
  const registry = new mudra.RegistryApi(known);
  const entry = mudra.SubmissionFromJSON(given.entry);
  const registered = await registry.submitEntry({ entityType: "AA", submission: entry });
  const read = await registry.listEntries({ entityType: "AA" });
  console.log(
    JSON.stringify({
      expiresIn: token.expiresIn,
      pushed: pushed.status,
      read: read.length,
      refused,
      registered: registered.status,
    }),
  );
}

void main();
