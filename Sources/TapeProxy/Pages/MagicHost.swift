internal import CassetteStore
internal import TapeBytes

/// The page that shows that traffic is flowing, and explains how to make a device trust the CA.
///
/// Stateless and independent of connections: an answer depends only on the request line and a status.
struct MagicHost: Sendable {
    /// Never a real host: `.test` is reserved (RFC 6761, 6.2).
    static let name = "wiretape.test"

    /// Also matches capitals, because origins keep hosts in lower case, and a trailing root dot.
    static func isNamed(_ host: String) -> Bool { host == self.name || host == self.name + "." }

    private static let paths = ["/", "/ca.pem", "/ca.crt", "/ca.der", "/ca.p12", "/status.json", "/trusted.svg"]

    /// - Parameters:
    ///   - target: in origin-form. The query is ignored.
    ///   - isSecure: the request arrived over TLS, with a certificate from Wiretape's CA.
    func answer(method: String, target: String, isSecure: Bool, status: MagicStatus) -> ProxyAnswer {
        guard method == "GET" || method == "HEAD" else {
            // RFC 9110, 15.5.6: a 405 without Allow is malformed.
            return ProxyAnswer(
                status: 405, reason: "Method Not Allowed", error: "method", fields: [("Allow", "GET, HEAD")],
                text: "\"\(Self.name)\" is wiretape's own page and read-only: use GET or HEAD.")
        }
        let path = target.prefix { $0 != "?" }
        switch path {
        case "/", "": return self.page(isSecure: isSecure, status: status)
        case "/status.json": return self.shown("application/json", status.json)
        case "/trusted.svg":
            // Loads only if Wiretape's CA is trusted. Over plain HTTP it would prove nothing.
            return isSecure ? self.shown("image/svg+xml", Self.trusted) : self.missing(path)
        case "/ca.pem", "/ca.crt", "/ca.der", "/ca.p12": return self.certificate(path, status.authority)
        default: return self.missing(path)
        }
    }

    private func page(isSecure: Bool, status: MagicStatus) -> ProxyAnswer {
        let page = MagicPage(status: status, isSecure: isSecure)
        return ProxyAnswer(
            contentType: "text/html; charset=utf-8", body: Array(page.html.markup.utf8),
            fields: [("Content-Security-Policy", MagicPage.contentSecurityPolicy)] + Self.always)
    }

    private func certificate(_ path: Substring, _ authority: MagicAuthority?) -> ProxyAnswer {
        guard let authority else {
            return ProxyAnswer(
                status: 404, reason: "Not Found", error: "no-authority", fields: Self.always,
                text: "this proxy does not intercept HTTPS and has no CA: see \"http://\(Self.name)/\".")
        }
        switch path {
        case "/ca.pem": return self.file(path, "application/x-pem-file", authority.pem)
        case "/ca.p12": return self.file(path, "application/x-pkcs12", authority.p12)
        default: return self.file(path, "application/x-x509-ca-cert", authority.der)
        }
    }

    private func file(_ path: Substring, _ contentType: String, _ body: [UInt8]) -> ProxyAnswer {
        let name = "wiretape-\(path.dropFirst())"
        return ProxyAnswer(
            contentType: contentType, body: body, fields: [("Content-Disposition", "attachment; filename=\"\(name)\"")] + Self.always)
    }

    private func shown(_ contentType: String, _ body: [UInt8]) -> ProxyAnswer {
        ProxyAnswer(contentType: contentType, body: body, fields: [("Content-Security-Policy", "default-src 'none'")] + Self.always)
    }

    private func missing(_ path: Substring) -> ProxyAnswer {
        let reason =
            path == "/trusted.svg"
            ? "\"/trusted.svg\" exists only over https" : "\"\(Self.name)\" is wiretape's own page and has no such path"
        return ProxyAnswer(
            status: 404, reason: "Not Found", error: "not-found", fields: Self.always,
            text: "\(reason): request one of \(Self.paths.joined(separator: ", ")).")
    }

    /// No answer may be cached: the same URL has another answer once the CA is trusted, or when another proxy serves it.
    private static let always = [("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")]

    /// Uses plain attributes and no styles, so that no content security policy blocks it.
    private static let trusted = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="110" height="28" viewBox="0 0 110 28" role="img" aria-label="trusted">
        <rect width="110" height="28" rx="14" fill="#1a7f37"/>
        <path d="M16 14.5l4 4 8-9" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>
        <text x="38" y="19" fill="#fff" font-family="system-ui, sans-serif" font-size="15" font-weight="600"
         textLength="56" lengthAdjust="spacingAndGlyphs">trusted</text>
        </svg>

        """.utf8)
}

/// The page that shows that traffic is flowing, and explains how to make a device trust the CA.
///
/// Uses no scripts and no resources from elsewhere. One image is requested over HTTPS and loads only if the CA is trusted.
struct MagicPage {
    var status: MagicStatus
    var isSecure: Bool

    /// Allows the style sheet by its digest, and the image (Content Security Policy Level 3, 6.7.2.2).
    static let contentSecurityPolicy: String = {
        let css = Array(MagicStyle.css.utf8)
        var digest = PortableSHA256()
        css.withUnsafeBytes { digest.update($0) }
        var text: [UInt8] = []
        digest.finalize().withUnsafeBytes { Base64.encode($0, into: &text) }
        return "default-src 'none'; style-src 'sha256-\(String(decoding: text, as: UTF8.self))'; img-src https://\(MagicHost.name); "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }()

    var html: HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Wiretape: traffic flows</title>
        <style>\(HTML(stringLiteral: MagicStyle.css))</style>
        </head>
        <body>
        <main>
        <h1>Traffic flows</h1>
        <p>This page came through Wiretape at <code>\(self.status.address)</code>, so this device uses the proxy. \(self.activity)</p>
        \(self.counts)
        \(self.trust)
        </main>
        </body>
        </html>

        """
    }

    private var activity: HTML {
        let cassette: HTML = "<code><bdi>\(self.status.cassette)</bdi></code>"
        return switch (self.status.records, self.status.replays) {
        case (true, false): "It records into \(cassette)."
        case (false, true): "It replays \(cassette) and records nothing."
        case (true, true): "It replays \(cassette) and records anything that is not in it yet."
        case (false, false): "It forwards everything and records nothing."
        }
    }

    private var counts: HTML {
        var shown = [("exchanges", self.status.exchanges)]
        if self.status.records { shown.append(("recorded", self.status.recorded)) }
        if self.status.replays { shown += [("replayed", self.status.replayed), ("not in cassette", self.status.misses)] }
        if self.status.authority != nil { shown.append(("TLS failures", self.status.tlsFailures)) }
        let boxes = shown.map { name, count -> HTML in "<div><dt>\(name)</dt><dd>\(count)</dd></div>" }
        return "<dl>\n\(HTML(joining: boxes))\n</dl>"
    }

    private var trust: HTML {
        guard let authority = self.status.authority else {
            return """
                <h2>HTTPS</h2>
                <p>HTTPS passes through unread: this run does not intercept it, so none of it is recorded, and there is no CA to trust.</p>
                """
        }
        let steps = TrustSteps.all(authority: authority.name, address: self.status.address)
        return """
            <h2>HTTPS</h2>
            <p class="trust">The CA is <img src="https://\(MagicHost.name)/trusted.svg" alt="not trusted yet: install it and load this page again">\
            \(self.isSecure ? " (this page came over HTTPS)" : "")</p>
            <p>To record HTTPS, Wiretape presents a certificate for each host that is signed by its own CA, \(authority.name). \
            A program that does not trust that CA refuses the connection.</p>
            <ul class="files">
            <li><a href="ca.pem">PEM<span>Linux, command line</span></a></li>
            <li><a href="ca.crt">DER, .crt<span>iOS, Android, Windows, macOS</span></a></li>
            <li><a href="ca.der">DER, .der<span>the same file, other name</span></a></li>
            <li><a href="ca.p12">PKCS #12<span>password: \(authority.p12Password)</span></a></li>
            </ul>
            <div class="faint">SHA-256 fingerprint: <code class="fingerprint">\(Self.fingerprint(authority.fingerprint))</code></div>
            <p class="faint">The files contain only the certificate. Its key stays on the machine that runs Wiretape.</p>
            <h2>How to trust it</h2>
            \(HTML(joining: steps.map(\.html)))
            <p class="faint">Trust it only on development devices, and remove it when you are done: \
            anyone who has the key can read what such a device sends.</p>
            """
    }

    /// Formatted as in OpenSSL and browsers, for comparison by eye. Lines break after 8 bytes.
    private static func fingerprint(_ bytes: [UInt8]) -> HTML {
        let lines = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<min(start + 8, bytes.count)].map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
        }
        return HTML(stringLiteral: lines.joined(separator: ":<wbr>"))
    }
}

/// The style sheet of the magic host's page: dark or light as the reader prefers, for phones up to wide screens.
enum MagicStyle {
    static let css = """

        :root { color-scheme: light dark; --text: #1f2328; --faint: #59636e; --back: #ffffff; --box: #f4f6f8; --line: #d1d9e0; --link: #0759bd;
          --good: #1a7f37; --bad: #a8320a; }
        @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9aa4af; --back: #101418; --box: #1a2027; --line: #353d46;
          --link: #74b3ff; --good: #4cc26b; --bad: #ff9f6e; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; overflow-wrap: break-word; }
        body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
        h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; }
        h2 { margin: 2.25rem 0 .5rem; font-size: 1.2rem; line-height: 1.3; }
        p { margin: .5rem 0; }
        a { color: var(--link); }
        code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
        code { padding: .1em .3em; background: var(--box); border-radius: .3em; white-space: nowrap; }
        code bdi { white-space: normal; overflow-wrap: anywhere; }
        pre { margin: .5rem 0; padding: .7rem .85rem; background: var(--box); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto; }
        pre code { padding: 0; background: none; white-space: pre; }
        .fingerprint { display: block; max-width: calc(48ch + 1.5rem); margin: .3rem 0; padding: .3rem .6rem; white-space: normal; }
        dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .6rem; margin: 1rem 0; }
        dl div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .6rem .8rem; background: var(--box); border: 1px solid var(--line);
          border-radius: .5rem; }
        dt { color: var(--faint); font-size: .85rem; line-height: 1.3; }
        dd { margin: 0; font-size: 1.4rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.3; }
        ol { margin: .5rem 0; padding-left: 1.4rem; }
        li { margin: .3rem 0; }
        .trust img { vertical-align: middle; color: var(--bad); font-weight: 600; }
        .files { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
        .files li { flex: 1 1 9rem; display: flex; margin: 0; }
        .files a { flex: 1; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--box);
          text-decoration: none; font-weight: 600; }
        .files a:hover { border-color: var(--link); }
        .files span { display: block; color: var(--faint); font-size: .85rem; font-weight: 400; }
        .faint { color: var(--faint); font-size: .9rem; }
        details { border: 1px solid var(--line); border-bottom-width: 0; padding: 0 .9rem; }
        details:first-of-type { border-radius: .5rem .5rem 0 0; }
        details:last-of-type { border-bottom-width: 1px; border-radius: 0 0 .5rem .5rem; }
        summary { padding: .65rem 0; font-weight: 600; cursor: pointer; }
        details[open] { padding-bottom: .7rem; }

        """
}

/// Information about the run that the magic host shows.
///
/// Plain values at one moment. The caller leaves out folders, names of origins and other private data.
struct MagicStatus: Sendable {
    var mode: RecordMode
    var records: Bool
    var replays: Bool
    /// The cassette's file name, without its folder.
    var cassette: String
    /// The proxy's address, HOST:PORT.
    var address: String
    /// Exchanges that have passed through the proxy.
    var exchanges = 0
    var recorded = 0
    var replayed = 0
    /// Requests that the cassette does not contain.
    var misses = 0
    var tlsFailures = 0
    /// nil if HTTPS is not intercepted.
    var authority: MagicAuthority?

    /// Written as one JSON object.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("mode")
        writer.string(self.mode.rawValue)
        writer.member("records")
        writer.bool(self.records)
        writer.member("replays")
        writer.bool(self.replays)
        writer.member("cassette")
        writer.string(self.cassette)
        let counts: [(StaticString, Int)] = [
            ("exchanges", self.exchanges), ("recorded", self.recorded), ("replayed", self.replayed), ("misses", self.misses),
            ("tlsFailures", self.tlsFailures),
        ]
        for (name, count) in counts {
            writer.member(name)
            writer.integer(count)
        }
        if let authority {
            writer.member("authority")
            writer.beginObject(.inline)
            writer.member("name")
            writer.string(authority.name)
            writer.member("sha256")
            writer.string(Hex.encode(authority.fingerprint))
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
