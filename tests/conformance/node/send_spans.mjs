// OpenTelemetry's SDK of Node.js sends its spans to an agent in both encodings: ADDRESS, then how often.
import { SpanKind } from "@opentelemetry/api";
import { OTLPTraceExporter as Json } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as Protobuf } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const [address, times] = process.argv.slice(2);
for (const Exporter of [Json, Protobuf]) {
  for (const compression of ["none", "gzip"]) {
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new Exporter({ url: `${address}/v1/traces`, compression }))] });
    const tracer = provider.getTracer("an application");
    for (let time = 0; time < Number(times); time++) {
      const attributes = { "http.request.method": "POST", "url.full": "https://fip-one.example/v2/FI/request", "server.address": "fip-one.example", "http.response.status_code": 200, "aa.session.id": `S-${time}`, "a.share": 0.5 };
      tracer.startSpan("call", { kind: SpanKind.CLIENT, attributes }).end();
      const notice = { "http.request.method": "POST", "url.path": "/v2/FI/Notification", "http.response.status_code": 200, "aa.fip.id": "FIP-ONE", "aa.session.id": `S-${time}`, "aa.fi.statuses": ["READY", "DENIED"] };
      tracer.startSpan("notice", { kind: SpanKind.SERVER, attributes: notice }).end();
    }
    await provider.shutdown();
  }
}
