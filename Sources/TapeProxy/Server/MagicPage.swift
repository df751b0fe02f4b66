internal import TapeBytes

/// The page that shows that traffic flows, and how a device is made to trust the CA.
///
/// Without scripts and without anything from elsewhere; one image comes over HTTPS and loads only where the CA is trusted.
struct MagicPage {
    var status: MagicStatus
    var isSecure: Bool

    /// Permits the style sheet by its digest, and the image (Content Security Policy Level 3, 6.7.2.2).
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
        case (true, true): "It replays \(cassette) and records what is not in there yet."
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
            <p>To record HTTPS, Wiretape shows each host’s certificate made by its own CA, \(authority.name). \
            A program that does not trust that CA refuses the connection.</p>
            <ul class="files">
            <li><a href="/ca.pem">PEM<span>Linux, command line</span></a></li>
            <li><a href="/ca.crt">DER, .crt<span>iOS, Android, Windows, macOS</span></a></li>
            <li><a href="/ca.der">DER, .der<span>the same, other name</span></a></li>
            <li><a href="/ca.p12">PKCS #12<span>password: \(authority.p12Password)</span></a></li>
            </ul>
            <div class="faint">SHA-256 fingerprint: <code class="fingerprint">\(Self.fingerprint(authority.fingerprint))</code></div>
            <p class="faint">The files hold the certificate alone. Its key stays on the machine that runs Wiretape.</p>
            <h2>How to trust it</h2>
            \(HTML(joining: steps.map(\.html)))
            <p class="faint">Trust it only on devices for development, and take it out again when you are done: \
            whoever has the key can read what such a device sends.</p>
            """
    }

    /// As OpenSSL and browsers show it, to be compared by eye; lines break behind 8 octets.
    private static func fingerprint(_ octets: [UInt8]) -> HTML {
        let lines = stride(from: 0, to: octets.count, by: 8).map { start in
            octets[start..<min(start + 8, octets.count)].map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
        }
        return HTML(stringLiteral: lines.joined(separator: ":<wbr>"))
    }
}
