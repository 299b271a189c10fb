// OpenTelemetry's SDK of Java sends spans to an agent: ADDRESS, then how often.
//
// Plain and packed, by each of the SDK's two senders: OkHttp, and the JDK's own HttpClient, which offers h2c with its
// first request. The jar has the first alone, so the second is built here as the SDK builds it.
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.exporter.internal.auth.Authenticator;
import io.opentelemetry.exporter.internal.http.HttpSender;
import io.opentelemetry.exporter.internal.http.HttpSenderProvider;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.sender.okhttp.internal.OkHttpHttpSenderProvider;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509TrustManager;

public class SendSpans {
    private static final String SENDER = "io.opentelemetry.exporter.internal.http.HttpSenderProvider";

    public static void main(String[] words) {
        String address = words[0] + "/v1/traces";
        for (Class<?> sender : List.of(OkHttpHttpSenderProvider.class, ByJdk.class)) {
            System.setProperty(SENDER, sender.getName());
            for (String packing : List.of("none", "gzip")) {
                send(OtlpHttpSpanExporter.builder().setEndpoint(address).setCompression(packing).build(), words[1]);
            }
        }
        System.exit(0);
    }

    private static void send(SpanExporter exporter, String times) {
        var provider = SdkTracerProvider.builder()
                .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
                .build();
        var tracer = provider.get("an application");
        for (int time = 0; time < Integer.parseInt(times); time++) {
            var call = Attributes.builder()
                    .put("http.request.method", "POST")
                    .put("url.full", "https://fip-one.example/v2/FI/request")
                    .put("server.address", "fip-one.example")
                    .put("http.response.status_code", 200)
                    .put("aa.session.id", "S-" + time)
                    .put("a.share", 0.5);
            var notice = Attributes.builder()
                    .put("http.request.method", "POST")
                    .put("url.path", "/v2/FI/Notification")
                    .put("http.response.status_code", 200)
                    .put("aa.fip.id", "FIP-ONE")
                    .put("aa.session.id", "S-" + time)
                    .put(AttributeKey.stringArrayKey("aa.fi.statuses"), "READY", "DENIED");
            tracer.spanBuilder("call").setSpanKind(SpanKind.CLIENT).setAllAttributes(call.build()).startSpan().end();
            tracer.spanBuilder("notice").setSpanKind(SpanKind.SERVER).setAllAttributes(notice.build()).startSpan().end();
        }
        if (!provider.shutdown().join(60, TimeUnit.SECONDS).isSuccess()) {
            throw new IllegalStateException("spans were not exported");
        }
    }

    public static class ByJdk implements HttpSenderProvider {
        @Override
        public HttpSender createSender(
                String address, boolean packs, String media, long nanoseconds,
                Supplier<Map<String, String>> headers, Authenticator authenticator,
                RetryPolicy retries, SSLContext context, X509TrustManager trusted) {
            HttpClient http = HttpClient.newBuilder().build();
            return new HttpSender() {
                @Override
                public void send(
                        Consumer<OutputStream> write, int length, Consumer<Response> done, Consumer<Throwable> failed) {
                    var request = HttpRequest.newBuilder(URI.create(address)).header("Content-Type", media);
                    if (packs) {
                        request.header("Content-Encoding", "gzip");
                    }
                    // A publisher without a length: the body is chunked.
                    BodyPublisher body = BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(written(write, packs)));
                    http.sendAsync(request.POST(body).build(), HttpResponse.BodyHandlers.ofByteArray())
                            .whenComplete((answer, error) -> {
                                if (error != null) {
                                    failed.accept(error);
                                } else {
                                    done.accept(new Answer(answer));
                                }
                            });
                }

                @Override
                public CompletableResultCode shutdown() {
                    return CompletableResultCode.ofSuccess();
                }
            };
        }

        private static byte[] written(Consumer<OutputStream> write, boolean packs) {
            var bytes = new ByteArrayOutputStream();
            try (OutputStream out = packs ? new GZIPOutputStream(bytes) : bytes) {
                write.accept(out);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
            return bytes.toByteArray();
        }
    }

    private record Answer(HttpResponse<byte[]> answer) implements HttpSender.Response {
        @Override
        public int statusCode() {
            return answer.statusCode();
        }

        @Override
        public String statusMessage() {
            return "";
        }

        @Override
        public byte[] responseBody() {
            return answer.body();
        }
    }
}
