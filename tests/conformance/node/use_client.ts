// A member's program with a client that is generated from the OpenAPI document: it gets a token, pushes
// a window, registers its entry and reads the directory. Reads what to send from stdin.
import createClient from "openapi-fetch";
import type { paths } from "./client.js";

type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Sent } } };
}
  ? Sent
  : never;

interface Asked {
  root: string;
  entityId: string;
  secret: string;
  push: Body<"/metrics/perf/v1/push">;
  entry: Body<"/cr/v2/entityInfo/{entity_type}">;
}

declare const process: { stdin: AsyncIterable<Uint8Array> };

const decoder = new TextDecoder();
let text = "";
for await (const chunk of process.stdin) text += decoder.decode(chunk, { stream: true });
const asked = JSON.parse(text) as Asked;

const api = createClient<paths>({ baseUrl: asked.root });
const token = await api.POST("/iam/v1/entity/token/generate", {
  body: { id: asked.entityId, secret: asked.secret },
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
});
if (!token.data) throw new Error(token.error.errorMsg);
const headers = { Authorization: `Bearer ${token.data.accessToken}` };

const pushed = await api.POST("/metrics/perf/v1/push", { body: asked.push, headers });
const kind = { params: { path: { entity_type: "AA" as const } } };
const registered = await api.POST("/cr/v2/entityInfo/{entity_type}", {
  ...kind,
  body: asked.entry,
  headers,
});
const read = await api.GET("/cr/v2/entityInfo/{entity_type}", { ...kind, headers });
const refused = await api.GET("/cr/v2/entityInfo/{entity_type}", kind);

console.log(
  JSON.stringify({
    expiresIn: token.data.expiresIn,
    pushed: pushed.data?.status,
    registered: registered.data?.status,
    read: read.data?.map((entry) => entry.entityinfo.id),
    refused: refused.error?.errorCode,
  }),
);
