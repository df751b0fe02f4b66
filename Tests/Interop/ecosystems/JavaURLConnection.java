import java.net.URL;

/** Prints the body of a URL by HttpURLConnection, with no settings of its own. */
public class JavaURLConnection {
    public static void main(String[] arguments) throws Exception {
        try (var body = new URL(arguments[0]).openStream()) {
            body.transferTo(System.out);
        }
        System.out.flush();
    }
}
