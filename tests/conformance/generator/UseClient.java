// A member's program with the client that openapi-generator makes: it gets a token, pushes a window,
// registers its entry and reads the directory. Reads what to send from stdin.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.TreeMap;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.NetworkMetricsApi;
import org.openapitools.client.api.RegistryApi;
import org.openapitools.client.api.TokensApi;
import org.openapitools.client.model.PushMetricsRequest;
import org.openapitools.client.model.Submission;

public class UseClient {
    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient();
        ObjectMapper mapper = client.getObjectMapper();
        JsonNode asked = mapper.readTree(System.in);
        client.updateBaseUri(asked.get("root").asText());
        Map<String, Object> seen = new TreeMap<>();

        try {
            new RegistryApi(client).listEntries("AA", null);
        } catch (ApiException refused) {
            seen.put("refused", refused.getCode());
        }
        var token = new TokensApi(client)
                .generateEntityAccessToken(
                        asked.get("entityId").asText(), asked.get("secret").asText(), null, null, null);
        seen.put("expiresIn", token.getExpiresIn());
        client.setRequestInterceptor(
                request -> request.header("Authorization", "Bearer " + token.getAccessToken()));

        var window = mapper.treeToValue(asked.get("push"), PushMetricsRequest.class);
        seen.put("pushed", new NetworkMetricsApi(client).pushMetrics(window).getStatus());
        var entry = mapper.treeToValue(asked.get("entry"), Submission.class);
        seen.put("registered", new RegistryApi(client).submitEntry("AA", entry).getStatus());
        seen.put("read", new RegistryApi(client).listEntries("AA", null).size());
        System.out.println(mapper.writeValueAsString(seen));
    }
}
