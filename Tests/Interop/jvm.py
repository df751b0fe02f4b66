"""Java: HttpURLConnection and HttpClient, alone and several at once."""
from harness import Handler

NEEDS = "javac:openjdk-17-jdk-headless"
BOUND = 300

PROGRAM = """
import java.net.*; import java.net.http.*; import java.nio.charset.StandardCharsets; import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
public class Program {
    static String old(String method, String url, String body, String... fields) throws Exception {
        var connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setRequestMethod(method);
        for (int n = 0; n < fields.length; n += 2) connection.setRequestProperty(fields[n], fields[n + 1]);
        if (body != null) { connection.setDoOutput(true); connection.getOutputStream().write(body.getBytes()); }
        var status = connection.getResponseCode();
        var stream = status < 400 ? connection.getInputStream() : connection.getErrorStream();
        return status + " " + (stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8).trim());
    }
    public static void main(String[] arguments) throws Exception {
        var url = arguments[0];
        System.out.println("old get " + old("GET", url + "/one", null));
        System.out.println("old post " + old("POST", url + "/two", "a=1"));
        System.out.println("old redirect " + old("GET", url + "/redirect", null));
        System.out.println("old missing " + old("GET", url + "/missing", null));
        System.out.println("old range " + old("GET", url + "/large", null, "Range", "bytes=10-19"));
        System.out.println("old json " + old("GET", url + "/kind", null, "Accept", "application/json"));
        System.out.println("old html " + old("GET", url + "/kind", null, "Accept", "text/html"));
        var client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
        for (var path : List.of("/one", "/redirect", "/missing", "/chunked")) {
            var answer = client.send(HttpRequest.newBuilder(URI.create(url + path)).build(), HttpResponse.BodyHandlers.ofString());
            System.out.println("new " + path + " " + answer.statusCode() + " " + answer.body().trim());
        }
        var posted = client.send(HttpRequest.newBuilder(URI.create(url + "/two")).POST(HttpRequest.BodyPublishers.ofString("b=2")).build(), HttpResponse.BodyHandlers.ofString());
        System.out.println("new post " + posted.statusCode() + " " + posted.body().trim());
        var waiting = IntStream.range(0, 12).mapToObj(n -> client.sendAsync(HttpRequest.newBuilder(URI.create(url + "/number?" + n % 6)).header("X-Turn", "" + n).build(),
            HttpResponse.BodyHandlers.ofString())).collect(Collectors.toList());
        for (var answer : waiting) System.out.println("async " + answer.get(60, TimeUnit.SECONDS).body().trim());
        // Several requests for one URL at once, whose answers depend on a field.
        var kinds = new ArrayList<>(List.of("application/json", "text/html", "text/csv", "text/xml", "image/svg+xml"));
        if (arguments[1].equals("backward")) Collections.reverse(kinds);
        var answers = new TreeMap<String, CompletableFuture<HttpResponse<String>>>();
        for (var kind : kinds) answers.put(kind, client.sendAsync(HttpRequest.newBuilder(URI.create(url + "/kind")).header("Accept", kind).build(), HttpResponse.BodyHandlers.ofString()));
        for (var kind : answers.keySet()) System.out.println("kind " + kind + " " + answers.get(kind).get(60, TimeUnit.SECONDS).body().trim());
        var large = client.send(HttpRequest.newBuilder(URI.create(url + "/large")).build(), HttpResponse.BodyHandlers.ofByteArray());
        System.out.println("large " + large.body().length + " " + Arrays.hashCode(large.body()));
    }
}
"""
LARGE = bytes(range(256)) * 8192


class Origin(Handler):
    def respond(self):
        content = self.body().decode()
        if self.path == "/redirect":
            return self.answer(302, "", Location="/one")
        if self.path == "/missing":
            return self.answer(404, "not here\n")
        if self.path == "/kind":
            kind = self.headers["Accept"]
            return self.answer(200, f"as {kind}\n", kind, Vary="Accept")
        if self.path == "/large":
            if self.headers.get("Range") == "bytes=10-19":
                return self.answer(206, b"0123456789", "application/octet-stream", Content_Range=f"bytes 10-19/{len(LARGE)}")
            return self.answer(200, LARGE, "application/octet-stream")
        if self.path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            return self.wfile.write(b"6\r\nhello \r\n6\r\nagain\n\r\n0\r\n\r\n")
        self.answer(200, f"{self.command} {self.path} {content}\n")

    do_GET = do_POST = do_HEAD = respond


def run(lab):
    origin = lab.serve(Origin)
    program = lab.write("Program.java", PROGRAM)
    built = lab.client(["javac", "-d", lab.path("classes"), program])
    if not lab.check(built.returncode == 0, f"the program does not compile: {built.stderr.decode()}"):
        return
    words = ["java", "-cp", lab.path("classes"), "Program", origin]
    lab.record("java", [*words, "forward"], replayed=[*words, "backward"], normalize=but_options,
               expect=["kind text/csv as text/csv", "old post 200 POST /two a=1", "new post 200 POST /two b=2", "large 2097152"])
    lab.replay()


def but_options(name, content):
    """Java prints JAVA_TOOL_OPTIONS, which has the proxy's port."""
    return b"\n".join(line for line in content.split(b"\n") if not line.startswith(b"Picked up ")) if name == "stderr" else content
