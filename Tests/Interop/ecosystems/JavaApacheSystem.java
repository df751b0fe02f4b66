import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** Prints the body of a URL by Apache HttpClient 4 with the system's properties. */
public class JavaApacheSystem {
    public static void main(String[] arguments) throws Exception {
        try (var client = HttpClients.createSystem(); var answer = client.execute(new HttpGet(arguments[0]))) {
            if (answer.getStatusLine().getStatusCode() != 200) throw new Exception(answer.getStatusLine().toString());
            System.out.write(EntityUtils.toByteArray(answer.getEntity()));
        }
        System.out.flush();
    }
}
