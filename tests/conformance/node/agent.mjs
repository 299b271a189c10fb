/*
 * An agent of an AA, written from docs/reference alone. The AA's application appends its HTTP events,
 * one a line, to EVENTS; both payloads of each window that is over are pushed, and again when late
 * events change them. It keeps nothing: the ID of a push is made of its content, so that what is pushed
 * again, without an answer or after a restart, is a duplicate.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const { ROOT, AA_ID, AA_SECRET, EVENTS } = process.env;
const WINDOW = 600_000, CLOSES = 30_000, LATEST = 30_000, LIVES = 7 * 86_400_000;
const SENT = "req-fipMetrics-aa", RECEIVED = "not-fipMetrics-aa";
const CALLS = {
  adisc: "/accounts/discover", alink: "/accounts/link", alinkv: "/accounts/link/verify", adlink: "/accounts/delink",
  cns: "/consent", cnot: "/consent/notification", fireq: "/fi/request", fif: "/fi/fetch", hbt: "/heartbeat",
};
const NOTICES = { finot: "/fi/notification", alnot: "/account/link/notification", cnot: "/consent/notification" };
const POSITIONS = [200, 400, 401, 403, 404, 409, 412, 429, "4xx", 500, 502, 503, 504, "5xx"];
const TERMINAL = ["READY", "DENIED", "DELIVERED", "TIMEOUT"];

const windowOf = (at) => at - (at % WINDOW);
const isFinal = ({ statuses }) => statuses.length > 0 && statuses.every((name) => TERMINAL.includes(name));
const hasData = ({ statuses }) => statuses.includes("READY") || statuses.includes("DELIVERED");
/** What a final notification decides: 2 a success, 1 a failure, 0 nothing, since the AA refused it. */
const outcomeOf = (notice) => (hasData(notice) ? 2 : notice.status >= 400 ? 0 : 1);

function groupsOf(all, name) {
  const groups = {};
  for (const one of all) (groups[one[name]] ??= []).push(one);
  return Object.entries(groups);
}

/** A call from its two events. */
function callOf({ inbound, start, end = {} }) {
  const { timestamp: at, peerId: fip, body: sent = {} } = start, answer = end.body ?? {};
  const path = start.route.split("?")[0].toLowerCase(), types = inbound ? NOTICES : CALLS;
  const type = Object.keys(types).find((name) => path.endsWith(types[name]));
  const ended = end.timestamp ?? at + LATEST, took = ended - at, said = Date.parse(sent.timestamp);
  const status = took <= LATEST ? Number(end.httpStatus || 0) : 0; // 0: no answer
  const notice = sent.FIStatusNotification, session = `${fip} ${notice?.sessionId ?? answer.sessionId}`;
  const statuses = (notice?.FIStatusResponse ?? []).flatMap((one) => one.Accounts.map((account) => account.FIStatus)).sort();
  const bytes = end.packetBytes ?? (answer.FI ?? []).flatMap((one) => one.data).reduce((sum, one) => sum + one.encryptedFI.length, 0);
  return { tag: inbound ? RECEIVED : SENT, fip, type, at, said, ended, took, status, session, statuses, bytes };
}

/** All calls, in the order of their end. */
function callsOf(lines) {
  const pairs = {};
  const read = (line) => { try { return [JSON.parse(line)]; } catch { return []; } }; // cut off by a loss of power
  for (const event of lines.flatMap(read)) {
    const inbound = ["requestIn", "responseOut"].includes(event.callType);
    const pair = (pairs[`${inbound} ${event.txnCorId}`] ??= { inbound });
    pair[event.callType.startsWith("request") ? "start" : "end"] ??= event;
  }
  const begun = Object.values(pairs).filter((pair) => pair.start);
  return begun.map(callOf).filter((call) => call.type).sort((a, b) => a.ended - b.ended);
}

/** What counts of a session's final notifications: the last one, and a success that follows a failure. */
function lastOf(finals) {
  const counted = [];
  for (const one of finals) {
    const last = counted.at(-1), mayReplace = last && one.ended <= windowOf(last.at) + WINDOW + CLOSES;
    const repeated = mayReplace && last.status < 400 && one.status >= 400 && `${one.statuses}` === `${last.statuses}`;
    if (repeated || (mayReplace && one.said < last.said)) continue;
    if (mayReplace) counted.pop();
    else if (last && outcomeOf(last) > 0 && outcomeOf(one) <= outcomeOf(last)) continue;
    counted.push(one);
  }
  return counted;
}

/** All that counts: calls, notifications, and of each session the times from its FI request to its outcomes. */
function countedOf(calls) {
  const counted = calls.filter((call) => call.type !== "finot");
  const accepted = counted.filter((call) => call.type === "fireq" && call.status === 200);
  for (const [session, notices] of groupsOf(calls.filter((call) => call.type === "finot"), "session")) {
    const finals = lastOf(notices.filter(isFinal)), request = accepted.find((call) => call.session === session);
    counted.push(...finals, ...notices.filter((one) => !isFinal(one)));
    const ends = { sfireqnot: notices.find(hasData), ffireqnot: finals.find((one) => !hasData(one)) };
    for (const [type, one] of Object.entries(ends).filter(([, found]) => request && found))
      counted.push({ ...one, tag: SENT, type, status: 200, took: Math.max(0, one.at - request.ended) });
  }
  return counted;
}

/** The block of a type, from all that counts in it. */
function blockOf([type, all]) {
  const calls = all.filter((one) => type !== "finot" || isFinal(one)), count = (holds) => calls.filter(holds).length;
  const positionOf = ({ status }) => POSITIONS.find((name) => [status, `${Math.floor(status / 100)}xx`].includes(name));
  const times = calls.filter((one) => one.status).map((one) => one.took).sort((a, b) => a - b);
  const block = { type, counts: [calls.length, ...POSITIONS.map((name) => count((one) => positionOf(one) === name))] };
  if (all[0].tag === SENT) block.pxx = [0.5, 0.95, 0.99, 1].map((share) => times[Math.ceil(share * times.length) - 1] ?? 0);
  if (type === "fif") block.sumOfSizeOfDataPackets = `${calls.reduce((sum, one) => sum + (one.status === 200 && one.bytes), 0)}`;
  const named = TERMINAL.map((name) => count((one) => one.statuses.includes(name)));
  if (type === "finot") block.status = [count(hasData), count((one) => outcomeOf(one) === 1), ...named, all.length - calls.length];
  return block;
}

function payloadOf(tag, start, counted) {
  const within = counted.filter((one) => one.tag === tag && windowOf(one.at) === start);
  const [fromDateTime, toDateTime] = [start, start + WINDOW].map((at) => new Date(at).toISOString());
  const fips = groupsOf(within, "fip").map(([fipId, calls]) => ({ fipId, metrics: groupsOf(calls, "type").map(blockOf) }));
  const content = { agentVersion: "node-agent-1.0.0", jsonVersion: "1.0.0", tag, aaId: AA_ID, fromDateTime, toDateTime, duration: 600, fips };
  return { ...content, txnId: createHash("sha256").update(JSON.stringify(content)).digest("hex") };
}

async function post(path, body, headers) {
  const answer = await fetch(ROOT + path, { method: "POST", body, headers, signal: AbortSignal.timeout(30_000) });
  if (answer.ok || answer.status === 400) return answer.json(); // 400: sent again it would be refused again
  throw Object.assign(new Error(`${path} answered ${answer.status}`), { answer });
}

let token, pushed = new Set();

async function pushAll() {
  const calls = callsOf(readFileSync(EVENTS, "utf8").split("\n")), counted = countedOf(calls);
  const last = Date.now() - WINDOW - CLOSES, first = Math.max(last - LIVES, Math.min(last, calls[0]?.at ?? last));
  for (let start = windowOf(first); start <= last; start += WINDOW)
    for (const payload of [SENT, RECEIVED].map((tag) => payloadOf(tag, start, counted))) {
      if (pushed.has(payload.txnId)) continue;
      token ??= (await post("/iam/v1/entity/token/generate", new URLSearchParams({ id: AA_ID, secret: AA_SECRET }))).accessToken;
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      console.log(JSON.stringify({ payload, answer: await post("/metrics/perf/v1/push", JSON.stringify(payload), headers) }));
      pushed.add(payload.txnId);
    }
}

for (let pause = 1_000; ; await new Promise((done) => setTimeout(done, pause))) {
  try { await pushAll(); pause = 1_000; } catch ({ message, answer }) {
    if (answer?.status === 401) token = undefined;
    pause = Math.min(60_000, Math.max(2 * pause, 1_000 * (answer?.headers.get("retry-after") ?? 0)));
    console.error(`${message}; again in ${pause / 1_000} s`);
  }
}
