// An OAuth 2.0 client that knows nothing of Mudra: discovery, client credentials, introspection,
// revocation. Reads {issuer, id, secret} from stdin.
import * as oauth from "openid-client";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const asked = JSON.parse(Buffer.concat(chunks).toString());

const seen = {};
for (const [name, authentication] of [
  ["basic", oauth.ClientSecretBasic(asked.secret)],
  ["post", oauth.ClientSecretPost(asked.secret)],
]) {
  const config = await oauth.discovery(new URL(asked.issuer), asked.id, undefined, authentication, {
    algorithm: "oauth2",
    execute: [oauth.allowInsecureRequests],
  });
  const token = await oauth.clientCredentialsGrant(config);
  const before = await oauth.tokenIntrospection(config, token.access_token);
  await oauth.tokenRevocation(config, token.access_token);
  const after = await oauth.tokenIntrospection(config, token.access_token);
  seen[name] = {
    type: token.token_type,
    expiresIn: token.expires_in,
    before: before.active,
    sub: before.sub,
    after: after.active,
  };
}
for (const [name, authentication] of [
  ["wrongBasic", oauth.ClientSecretBasic("wrong")],
  ["wrongPost", oauth.ClientSecretPost("wrong")],
]) {
  const config = await oauth.discovery(new URL(asked.issuer), asked.id, undefined, authentication, {
    algorithm: "oauth2",
    execute: [oauth.allowInsecureRequests],
  });
  seen[name] = await oauth.clientCredentialsGrant(config).catch((error) => error.error ?? error.code);
}
console.log(JSON.stringify(seen));
