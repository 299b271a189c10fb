// A real OpenID Connect provider (node-oidc-provider) for one client. It signs in whoever the test
// names, without a page. Reads {port, clientId, clientSecret, redirectUri, account} from stdin.
import { Provider } from "oidc-provider";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const asked = JSON.parse(Buffer.concat(chunks).toString());
const issuer = `http://127.0.0.1:${asked.port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: asked.clientId,
      client_secret: asked.clientSecret,
      redirect_uris: [asked.redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      id_token_signed_response_alg: asked.algorithm,
    },
  ],
  jwks: { keys: asked.keys },
  claims: {
    openid: ["sub", "amr", "auth_time"],
    email: ["email", "email_verified"],
    profile: ["name"],
    groups: ["groups"],
  },
  conformIdTokenClaims: false,
  cookies: { keys: ["only-for-tests"] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email_verified: true, ...asked.account }),
  }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
  ttl: { IdToken: 600 },
});

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith("/interaction/")) return next();
  const details = await provider.interactionDetails(ctx.req, ctx.res);
  if (details.prompt.name === "login") {
    const login = { accountId: "person-1", amr: asked.amr, remember: true };
    return provider.interactionFinished(ctx.req, ctx.res, { login });
  }
  const grant = new provider.Grant({ accountId: "person-1", clientId: asked.clientId });
  grant.addOIDCScope("openid email profile groups");
  const grantId = await grant.save();
  return provider.interactionFinished(ctx.req, ctx.res, { consent: { grantId } });
});

provider.listen(asked.port, "127.0.0.1", () => console.log("ready"));
