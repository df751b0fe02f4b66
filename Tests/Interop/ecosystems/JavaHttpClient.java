import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Prints the body of a URL by java.net.http.HttpClient, with no settings of its own. */
public class JavaHttpClient {
    public static void main(String[] arguments) throws Exception {
        var answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(arguments[0])).build(), BodyHandlers.ofByteArray());
        if (answer.statusCode() != 200) throw new Exception("status " + answer.statusCode());
        System.out.write(answer.body());
        System.out.flush();
    }
}
