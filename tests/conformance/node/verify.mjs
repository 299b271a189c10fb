// Verifies a token by the published keys, with two libraries. Reads
// {"token", "jwksUri", "issuer", "audience", "now"} from standard input; `now` in
// seconds, since the service under test may have moved its clock.
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";

import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import jsonwebtoken from "jsonwebtoken";

const { token, jwksUri, issuer, audience, now } = JSON.parse(readFileSync(0, "utf8"));

async function byJose() {
  const keys = createRemoteJWKSet(new URL(jwksUri));
  const currentDate = new Date(now * 1000);
  const options = { issuer, audience, algorithms: ["RS256"], currentDate };
  return (await jwtVerify(token, keys, options)).payload;
}

async function byJsonwebtoken() {
  const { kid } = decodeProtectedHeader(token);
  const { keys } = await (await fetch(jwksUri)).json();
  const jwk = keys.find((key) => key.kid === kid);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const options = { issuer, audience, algorithms: ["RS256"], clockTimestamp: now };
  return jsonwebtoken.verify(token, key, options);
}

async function outcome(verify) {
  try {
    return { claims: await verify() };
  } catch (error) {
    return { refused: error.code ?? error.message };
  }
}

const answer = { jose: await outcome(byJose), jsonwebtoken: await outcome(byJsonwebtoken) };
process.stdout.write(JSON.stringify(answer));
