import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Java's own client as it comes: java HTTPSClient.java URL... Writes the bodies to standard output, one after the other. */
public class HTTPSClient {
    public static void main(String[] urls) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (String url : urls) {
            HttpResponse<byte[]> response = client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofByteArray());
            if (response.statusCode() != 200) throw new Exception(url + ": " + response.statusCode());
            System.out.write(response.body());
        }
        System.out.flush();
    }
}
