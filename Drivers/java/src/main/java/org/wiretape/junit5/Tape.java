package org.wiretape.junit5;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.Proxy;
import java.net.SocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The session of one test: a port that leads to it, and clients that use and trust it. */
public final class Tape {
  private static final String PROTOCOL = "1";
  private static Server server;

  private final String id;
  private final int port;
  private final Map<String, Object> environment;
  private final SSLContext context;

  /** What a session has come to. */
  public record Report(int exit, String cassette, String text) {}

  /** A refusal by wiretape. */
  public static final class WiretapeException extends RuntimeException {
    private final String code;

    WiretapeException(String code, String message) {
      super("wiretape: " + message);
      this.code = code;
    }

    public String code() {
      return this.code;
    }
  }

  /** One {@code wiretape serve}, which this process shares with others that start it alike, and which ends with the last of them. */
  private record Server(Process process, URI control, String token, String folder, HttpClient client) {
    static Server start() {
      String program = variable("WIRETAPE", "wiretape");
      List<String> command = new ArrayList<>(List.of(program, "serve", "--share", "--folder", variable("WIRETAPE_FOLDER", "src/test/resources/cassettes")));
      for (String word : variable("WIRETAPE_ARGUMENTS", "").split(" ")) if (!word.isEmpty()) command.add(word);
      try {
        Files.createDirectories(Path.of(command.get(4)));
        Path errors = Files.createTempFile("wiretape", ".log");
        errors.toFile().deleteOnExit();
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        StringBuilder line = new StringBuilder();
        for (int letter; (letter = process.getInputStream().read()) >= 0 && letter != '\n'; ) line.append((char) letter);
        if (line.length() == 0) throw new WiretapeException("start", Files.readString(errors).strip());
        Map<String, Object> ready = Json.object(new String(line.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
        if (!PROTOCOL.equals(ready.get("protocol"))) {
          throw new WiretapeException("protocol", program + " speaks protocol " + ready.get("protocol") + ", and this driver " + PROTOCOL + ": update the older one");
        }
        HttpClient client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).version(HttpClient.Version.HTTP_1_1).build();
        return new Server(process, URI.create((String) ready.get("control")), (String) ready.get("token"), (String) ready.get("folder"), client);
      } catch (IOException error) {
        throw new WiretapeException("start", "cannot run \"" + program + "\" (" + error.getMessage() + "): install wiretape, or name it with WIRETAPE");
      }
    }

    Map<String, Object> ask(String method, String path, Object body) {
      HttpRequest request = HttpRequest.newBuilder(this.control.resolve(path)).timeout(Duration.ofMinutes(2))
          .header("Authorization", "Bearer " + this.token).header("Content-Type", "application/json")
          .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(Json.text(body))).build();
      Map<String, Object> answer;
      try {
        answer = Json.object(this.client.send(request, HttpResponse.BodyHandlers.ofString()).body());
      } catch (IOException | InterruptedException error) {
        throw new WiretapeException("connection", "wiretape serve does not answer (" + error + "): was its process ended?");
      }
      if (answer.get("error") instanceof Map<?, ?> problem) {
        throw new WiretapeException((String) problem.get("code"), (String) problem.get("message"));
      }
      return answer;
    }
  }

  private static String variable(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }

  private static synchronized Server server() {
    if (server == null) server = Server.start();
    return server;
  }

  /**
   * Opens a session for those who end it themselves.
   *
   * @param order members of {@code POST /sessions}
   */
  public static Tape open(Map<String, Object> order) {
    Map<String, Object> members = new LinkedHashMap<>(Map.of("folders", true, "owner", ProcessHandle.current().pid(), "mode", variable("CI", "").isEmpty() ? "once" : "none"));
    members.putAll(order);
    // Java's HttpClient refuses to send a password for a tunnel unless a property was set at the start: the session has its own port.
    members.put("port", true);
    String mode = variable("WIRETAPE_MODE", "");
    if (!mode.isEmpty()) members.put("mode", mode);
    return new Tape(server().ask("POST", "/sessions", members));
  }

  @SuppressWarnings("unchecked")
  private Tape(Map<String, Object> answer) {
    this.id = (String) answer.get("id");
    this.port = ((Number) answer.get("port")).intValue();
    this.environment = (Map<String, Object>) answer.get("env");
    Map<String, Object> trust = (Map<String, Object>) answer.get("trust");
    try (InputStream file = Files.newInputStream(Path.of((String) trust.get("java")))) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(file, ((String) trust.get("javaPassword")).toCharArray());
      TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(store);
      this.context = SSLContext.getInstance("TLS");
      this.context.init(null, managers.getTrustManagers(), null);
    } catch (IOException | GeneralSecurityException error) {
      throw new WiretapeException("trust", "cannot read " + trust.get("java") + ": " + error);
    }
  }

  /** Leads every request through the session, those to localhost too. */
  public ProxySelector proxySelector() {
    Proxy proxy = new Proxy(Proxy.Type.HTTP, new InetSocketAddress("127.0.0.1", this.port));
    return new ProxySelector() {
      @Override
      public List<Proxy> select(URI uri) {
        return uri.getScheme().startsWith("http") ? List.of(proxy) : List.of(Proxy.NO_PROXY);
      }

      @Override
      public void connectFailed(URI uri, SocketAddress address, IOException error) {}
    };
  }

  /** Trusts the system's roots and the recorder. */
  public SSLContext sslContext() {
    return this.context;
  }

  /** A client's builder that goes through the session. */
  public HttpClient.Builder httpClient() {
    return HttpClient.newBuilder().proxy(this.proxySelector()).sslContext(this.context);
  }

  /** The variables for programs that the test starts. */
  public Map<String, Object> environment() {
    return this.environment;
  }

  /** Ends the session. After a failed test a new recording does not replace an older cassette. */
  public Report end(boolean failed) {
    Map<String, Object> report = server().ask("DELETE", "/sessions/" + this.id + (failed ? "?failed=true" : ""), null);
    return new Report(((Number) report.get("exit")).intValue(), (String) report.get("cassette"), (String) report.get("text"));
  }
}
