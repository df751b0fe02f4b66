package org.wiretape.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Run by test.sh, which names an empty folder with WIRETAPE_FOLDER. */
class DriverTest {
  private static final Path CASES = Path.of(System.getProperty("cases"));
  private static final Path FOLDER = Path.of(System.getenv("WIRETAPE_FOLDER"));
  private static String origin;
  private static String page;

  /** A local server: GET /N is answered with N, and each answer is counted. */
  private static final class Origin implements AutoCloseable {
    final AtomicInteger count = new AtomicInteger();
    private final HttpServer server;

    Origin() throws IOException {
      this.server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
      this.server.createContext("/", exchange -> {
        this.count.incrementAndGet();
        byte[] body = exchange.getRequestURI().getPath().substring(1).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
      });
      this.server.start();
    }

    String address() {
      return "127.0.0.1:" + this.server.getAddress().getPort();
    }

    @Override
    public void close() {
      this.server.stop(0);
    }
  }

  private static HttpResponse<String> get(HttpClient client, String url) throws Exception {
    return client.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
  }

  // MARK: The cases of all drivers

  @TestFactory
  Stream<DynamicTest> cases() throws IOException {
    return Files.list(CASES).filter(path -> path.toString().endsWith(".json")).sorted().map(path -> DynamicTest.dynamicTest(path.getFileName().toString(), () -> {
      Map<String, Object> one = Json.object(Files.readString(path));
      String sub = path.getFileName().toString().replace(".json", "");
      if (one.get("cassette") instanceof String cassette) {
        Files.createDirectories(FOLDER.resolve(sub));
        Files.copy(CASES.resolve("cassettes/" + cassette), FOLDER.resolve(sub + "/" + ((Map<?, ?>) one.get("order")).get("cassette")));
      }
      try (Origin origin = new Origin()) {
        play(one, origin, sub);
      }
    }));
  }

  @SuppressWarnings("unchecked")
  private static void play(Map<String, Object> one, Origin origin, String sub) throws Exception {
    Map<String, Object> order = new LinkedHashMap<>((Map<String, Object>) one.get("order"));
    if (!"cassette-name".equals(one.get("refused"))) order.put("cassette", sub + "/" + order.get("cassette"));
    if (one.get("refused") instanceof String code) {
      assertEquals(code, assertThrows(Tape.WiretapeException.class, () -> Tape.open(order)).code());
      return;
    }
    Tape tape = Tape.open(order);
    for (Object request : (List<Object>) one.get("requests")) {
      Map<String, Object> wanted = (Map<String, Object>) request;
      HttpResponse<String> response = get(tape.httpClient().build(), ((String) wanted.get("url")).replace("ORIGIN", origin.address()));
      assertEquals(((Number) wanted.get("status")).intValue(), response.statusCode(), response.body());
      if (wanted.get("body") instanceof String body) assertEquals(body, response.body());
    }
    Tape.Report report = tape.end(Boolean.TRUE.equals(one.get("failed")));
    assertEquals(((Number) one.get("exit")).intValue(), report.exit(), report.text());
    for (Object text : (List<Object>) one.getOrDefault("text", List.of())) assertTrue(report.text().contains((String) text), report.text());
    if (one.get("again") instanceof Map<?, ?> again) {
      origin.close();
      play((Map<String, Object>) again, origin, sub);
    }
  }

  // MARK: The extension

  /** Twenty tests with the clients of Java's own, one of which is given the session. */
  @Wiretape(ignore = "query:ts")
  static class Pets {
    @RepeatedTest(8)
    void httpClient(RepetitionInfo repetition) throws Exception {
      String number = String.valueOf(repetition.getCurrentRepetition());
      assertEquals(number, get(HttpClient.newHttpClient(), "http://" + origin + "/" + number + "?ts=" + System.nanoTime()).body());
    }

    @RepeatedTest(8)
    void urlConnection(RepetitionInfo repetition) throws Exception {
      String number = String.valueOf(repetition.getCurrentRepetition());
      HttpURLConnection connection = (HttpURLConnection) new URL("http://" + origin + "/" + number).openConnection();
      assertEquals(number, new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    @RepeatedTest(4)
    void givenClient(Tape tape) throws Exception {
      assertEquals("own", get(tape.httpClient().build(), "http://" + origin + "/own").body());
    }
  }

  static class Pages {
    @Test
    @Wiretape
    void notices() throws Exception {
      assertEquals(200, get(HttpClient.newHttpClient(), "http://" + origin + "/1?page=" + page).statusCode());
    }

    @Test
    @Wiretape
    void doesNotNotice() throws Exception {
      get(HttpClient.newHttpClient(), "http://" + origin + "/2?page=" + page);
    }
  }

  private record Outcome(List<String> passed, List<Throwable> failures) {
    static Outcome of(Class<?> tests) {
      Outcome outcome = new Outcome(new ArrayList<>(), new ArrayList<>());
      LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build();
      LauncherFactory.create().execute(request, new TestExecutionListener() {
        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
          result.getThrowable().ifPresent(outcome.failures::add);
          if (test.isTest() && result.getThrowable().isEmpty()) outcome.passed.add(test.getDisplayName());
        }
      });
      return outcome;
    }
  }

  @Test
  void twentyTestsAreRecordedAndReplayedWithoutTheOrigin() throws Exception {
    try (Origin running = new Origin()) {
      origin = running.address();
      Outcome recorded = Outcome.of(Pets.class);
      assertEquals(List.of(), recorded.failures());
      assertEquals(20, recorded.passed().size());
      assertEquals(20, running.count.get());
    }
    Outcome replayed = Outcome.of(Pets.class);
    assertEquals(List.of(), replayed.failures());
    assertEquals(20, replayed.passed().size());
  }

  @Test
  void aMissFailsItsTestWithTheReport() throws Exception {
    try (Origin running = new Origin()) {
      origin = running.address();
      page = "1";
      assertEquals(List.of(), Outcome.of(Pages.class).failures());
    }
    page = "2";
    Outcome outcome = Outcome.of(Pages.class);
    assertEquals(2, outcome.failures().size());
    for (Throwable failure : outcome.failures()) {
      String text = failure.getMessage() + Stream.of(failure.getSuppressed()).map(Throwable::getMessage).toList();
      assertTrue(text.contains("query item is \"page=2\", recorded is \"page=1\""), text);
    }
  }
}
