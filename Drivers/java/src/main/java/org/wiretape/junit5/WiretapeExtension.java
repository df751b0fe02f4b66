package org.wiretape.junit5;

import java.net.ProxySelector;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Opens a session before each test and ends it after it.
 *
 * <p>A test that takes a {@link Tape} gets clients for it, and may run beside others. For all others the proxy and the trust of the whole
 * process are those of the test, so they must not run at once.
 */
public final class WiretapeExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(WiretapeExtension.class);

  /** What the process had before the test. */
  private record Defaults(ProxySelector proxies, SSLContext context, SSLSocketFactory sockets) {
    static Defaults now() throws Exception {
      return new Defaults(ProxySelector.getDefault(), SSLContext.getDefault(), HttpsURLConnection.getDefaultSSLSocketFactory());
    }

    void restore() {
      ProxySelector.setDefault(this.proxies);
      SSLContext.setDefault(this.context);
      HttpsURLConnection.setDefaultSSLSocketFactory(this.sockets);
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    Tape tape = Tape.open(order(context));
    store(context).put(Tape.class, tape);
    if (takesTape(context)) return;
    store(context).put(Defaults.class, Defaults.now());
    ProxySelector.setDefault(tape.proxySelector());
    SSLContext.setDefault(tape.sslContext());
    HttpsURLConnection.setDefaultSSLSocketFactory(tape.sslContext().getSocketFactory());
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    Defaults defaults = store(context).remove(Defaults.class, Defaults.class);
    if (defaults != null) defaults.restore();
    Tape tape = store(context).remove(Tape.class, Tape.class);
    if (tape == null) return;
    boolean failed = context.getExecutionException().isPresent();
    Tape.Report report = tape.end(failed);
    if (report.exit() != 0) throw new AssertionError("wiretape: " + report.cassette() + ": " + report.text());
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Tape.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return store(context).get(Tape.class, Tape.class);
  }

  private static ExtensionContext.Store store(ExtensionContext context) {
    return context.getStore(NAMESPACE);
  }

  private static boolean takesTape(ExtensionContext context) {
    return List.of(context.getRequiredTestMethod().getParameterTypes()).contains(Tape.class);
  }

  private static Map<String, Object> order(ExtensionContext context) {
    Wiretape wanted = context.getRequiredTestMethod().getAnnotation(Wiretape.class);
    if (wanted == null) wanted = context.getRequiredTestClass().getAnnotation(Wiretape.class);
    Map<String, Object> order = new LinkedHashMap<>();
    order.put("label", context.getRequiredTestClass().getName() + "." + context.getRequiredTestMethod().getName() + " " + context.getDisplayName());
    order.put("cassette", name(context));
    if (wanted == null) return order;
    if (!wanted.cassette().isEmpty()) order.put("cassette", wanted.cassette().replaceFirst("\\.json$", "") + ".json");
    if (!wanted.mode().isEmpty()) order.put("mode", wanted.mode());
    Map<String, Object> rules = new LinkedHashMap<>();
    if (wanted.match().length > 0) rules.put("match", List.of(wanted.match()));
    if (wanted.ignore().length > 0) rules.put("ignore", List.of(wanted.ignore()));
    if (!rules.isEmpty()) order.put("rules", rules);
    if (wanted.failOn().length > 0) order.put("failOn", List.of(wanted.failOn()));
    return order;
  }

  /** Repeated and parametrized tests have names of their own, as "[1] a/b". */
  private static String name(ExtensionContext context) {
    List<String> parts = new ArrayList<>(List.of(context.getRequiredTestClass().getName().split("[.$]")));
    String method = context.getRequiredTestMethod().getName();
    String display = context.getDisplayName();
    parts.add(display.startsWith(method + "(") ? method : method + " " + display);
    StringBuilder path = new StringBuilder();
    for (String part : parts) path.append(path.length() == 0 ? "" : "/").append(escaped(part));
    return path + ".json";
  }

  private static String escaped(String part) {
    StringBuilder text = new StringBuilder();
    for (char letter : part.toCharArray()) {
      boolean isPlain = letter > 0x1F && letter != 0x7F && "/\\%:*?\"<>|".indexOf(letter) < 0 && !(letter == '.' && text.length() == 0);
      text.append(isPlain ? String.valueOf(letter) : String.format("%%%02X", (int) letter));
    }
    return text.length() <= 150 ? text.toString() : text.substring(0, 130) + "~" + Integer.toHexString(part.hashCode());
  }
}
