/*
 * An agent of an AA, written from docs/reference alone. The AA's application appends its HTTP events,
 * one a line, to EVENTS; both payloads of each window that is over are pushed, and again when late
 * events change them. It keeps nothing else: after a restart what is pushed again is a duplicate.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

const { ROOT, AA_ID, AA_SECRET, EVENTS } = process.env;
const WINDOW = 600_000, CLOSES = 30_000, LATEST = 30_000, LIVES = 7 * 86_400_000;
const CALLS = {
  "/accounts/discover": "adisc", "/accounts/link": "alink", "/accounts/link/verify": "alinkv",
  "/accounts/delink": "adlink", "/consent": "cns", "/consent/notification": "cnot",
  "/fi/request": "fireq", "/fi/fetch": "fif", "/heartbeat": "hbt",
};
const NOTICES = {
  "/fi/notification": "finot", "/account/link/notification": "alnot", "/consent/notification": "cnot",
};
const POSITIONS = [200, 400, 401, 403, 404, 409, 412, 429, "4xx", 500, 502, 503, 504, "5xx"];
const TERMINAL = ["READY", "DENIED", "DELIVERED", "TIMEOUT"], GOOD = ["READY", "DELIVERED"];

const windowOf = (at) => at - (at % WINDOW);
const some = (call, names) => names.some((name) => call.statuses.includes(name));
const isFinal = ({ statuses }) => statuses.length && statuses.every((name) => TERMINAL.includes(name));

function typeOf(route, inbound) {
  const path = route.split("?")[0].toLowerCase(), types = inbound ? NOTICES : CALLS;
  return types[Object.keys(types).find((end) => path.endsWith(end))];
}

/** Calls from their two events each: {fip, type, inbound, at, ended, status, …} in the order of their end. */
function callsOf(lines) {
  const calls = new Map();
  for (const line of lines) {
    let event;
    try { event = JSON.parse(line); } catch { continue; } // cut off by a loss of power
    const inbound = ["requestIn", "responseOut"].includes(event.callType);
    const key = `${inbound} ${event.txnCorId}`, call = calls.get(key) ?? { inbound };
    const body = event.body ?? {};
    calls.set(key, call);
    if (event.callType.startsWith("request")) {
      call.at ??= event.timestamp;
      Object.assign(call, { fip: event.peerId, type: typeOf(event.route, inbound), sent: Date.parse(body.timestamp) });
      const notice = body.FIStatusNotification;
      if (notice) {
        call.session = notice.sessionId;
        call.statuses = notice.FIStatusResponse.flatMap((one) => one.Accounts.map((account) => account.FIStatus)).sort();
      }
    } else {
      call.ended ??= event.timestamp;
      call.status = event.timestamp - call.at <= LATEST ? Number(event.httpStatus || 0) : 0;
      call.bytes = event.packetBytes ?? (body.FI ?? []).flatMap((fi) => fi.data).reduce((sum, one) => sum + one.encryptedFI.length, 0);
      if (body.sessionId) call.session = body.sessionId;
    }
  }
  return [...calls.values()].filter((call) => call.type && call.ended).sort((a, b) => a.ended - b.ended);
}

/** What counts of the notifications of a session: the last final one, and a success that follows a failure. */
function countedOf(notices) {
  const finals = [];
  for (const one of notices.filter(isFinal)) {
    const before = finals.at(-1);
    if (before && one.ended <= windowOf(before.at) + WINDOW + CLOSES) {
      const repeated = before.status < 400 && one.status >= 400 && `${one.statuses}` === `${before.statuses}`;
      if (repeated || one.sent < before.sent) continue;
      finals.pop();
    }
    finals.push(one);
  }
  let decided = 0;
  return finals.filter((one) => {
    one.outcome = some(one, GOOD) ? 2 : one.status >= 400 ? 0 : 1;
    const counts = decided < Math.max(one.outcome, 1);
    if (counts) decided = one.outcome;
    return counts;
  });
}

/** Both payloads of the window that begins at `start`: each FIP's blocks. */
function payloadsOf(start, calls) {
  const fips = { "req-fipMetrics-aa": {}, "not-fipMetrics-aa": {} }, sessions = {};
  const within = (call) => windowOf(call.at) === start;
  const block = (fip, type, inbound = false) => {
    const types = (fips[inbound ? "not-fipMetrics-aa" : "req-fipMetrics-aa"][fip] ??= {});
    return (types[type] ??= { counts: Array(15).fill(0), times: [], bytes: 0n, status: Array(7).fill(0) });
  };
  const add = (one, status, took, bytes = 0) => {
    const at = [status, `${Math.floor(status / 100)}xx`].map((name) => POSITIONS.indexOf(name)).find((found) => found >= 0);
    one.counts[0]++;
    if (at !== undefined) one.counts[at + 1]++;
    if (status) one.times.push(took);
    if (status === 200) one.bytes += BigInt(bytes);
  };
  for (const call of calls) {
    if (call.type === "finot" || (call.type === "fireq" && call.status === 200)) {
      const session = (sessions[`${call.fip} ${call.session}`] ??= { fip: call.fip, notices: [] });
      if (call.type === "finot") session.notices.push(call);
      else session.since ??= call.ended;
    }
    if (call.type !== "finot" && within(call)) add(block(call.fip, call.type, call.inbound), call.status, call.ended - call.at, call.bytes);
  }
  for (const { fip, since, notices } of Object.values(sessions)) {
    const counted = countedOf(notices);
    const timed = (type, call) => { if (since && call && within(call)) add(block(fip, type), 200, call.at - since); };
    timed("sfireqnot", notices.find((call) => some(call, GOOD)));
    timed("ffireqnot", counted.find((call) => !some(call, GOOD)));
    for (const call of notices.filter(within)) if (!isFinal(call)) block(fip, "finot", true).status[6]++;
    for (const call of counted.filter(within)) {
      const one = block(fip, "finot", true);
      add(one, call.status);
      [call.outcome === 2, call.outcome === 1, ...TERMINAL.map((name) => some(call, [name]))].forEach((holds, at) => (one.status[at] += +holds));
    }
  }
  return Object.entries(fips);
}

function payloadOf(tag, start, fips) {
  const iso = (at) => new Date(at).toISOString();
  const rank = (times, share) => times[Math.ceil(share * times.length) - 1] ?? 0;
  const shown = ([type, { counts, times, bytes, status }]) => {
    times.sort((a, b) => a - b);
    const pxx = tag.startsWith("req") && { pxx: [0.5, 0.95, 0.99, 1].map((share) => rank(times, share)) };
    return { type, counts, ...pxx, ...(type === "fif" && { sumOfSizeOfDataPackets: `${bytes}` }), ...(type === "finot" && { status }) };
  };
  return {
    agentVersion: "node-agent-1.0.0", jsonVersion: "1.0.0", tag, txnId: randomUUID(),
    fromDateTime: iso(start), toDateTime: iso(start + WINDOW), duration: 600, aaId: AA_ID,
    fips: Object.entries(fips).map(([fipId, types]) => ({ fipId, metrics: Object.entries(types).map(shown) })),
  };
}

async function post(path, body, headers) {
  const answer = await fetch(ROOT + path, { method: "POST", body, headers, signal: AbortSignal.timeout(30_000) });
  const { status } = answer, after = Number(answer.headers.get("retry-after")) * 1_000;
  if (status === 429 || status >= 500) throw Object.assign(new Error(`${path} answered ${status}`), { after });
  return { ...(await answer.json()), code: status };
}

let token, calls = [], read = 0;
const waiting = new Map(), pushed = new Map();

async function push(key, payload) {
  const form = new URLSearchParams({ id: AA_ID, secret: AA_SECRET });
  token ??= (await post("/iam/v1/entity/token/generate", form)).accessToken;
  if (!token) throw new Error("no token: look at AA_ID and AA_SECRET");
  waiting.set(key, payload); // without an answer the same bytes are sent again
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const answer = await post("/metrics/perf/v1/push", JSON.stringify(payload), headers);
  if (answer.code === 401) token = undefined;
  if (answer.code !== 401) waiting.delete(key);
  if ([401, 409].includes(answer.code)) throw new Error(answer.errorMsg);
  console.log(JSON.stringify({ payload, answer })); // 400: sent again it would be refused again
}

async function deliver() {
  const now = Date.now();
  if (statSync(EVENTS).size !== read) {
    const text = readFileSync(EVENTS);
    [calls, read] = [callsOf(text.toString().split("\n")), text.length];
  }
  const first = Math.max(now - LIVES, Math.min(now - WINDOW - CLOSES, ...calls.slice(0, 1).map((call) => call.at)));
  for (let start = windowOf(first); start + WINDOW + CLOSES <= now; start += WINDOW) {
    for (const [tag, fips] of payloadsOf(start, calls)) {
      const key = `${start} ${tag}`, fresh = payloadOf(tag, start, fips), content = JSON.stringify(fresh.fips);
      if (pushed.get(key) === content) continue;
      await push(key, JSON.stringify(waiting.get(key)?.fips) === content ? waiting.get(key) : fresh);
      pushed.set(key, content);
    }
  }
}

for (let pause = 1_000; ; await new Promise((done) => setTimeout(done, pause))) {
  try { await deliver(); pause = 1_000; } catch (failure) {
    pause = Math.min(60_000, Math.max(2 * pause, failure.after || 0));
    console.error(`${failure.message}; again in ${pause / 1_000} s`);
  }
}
