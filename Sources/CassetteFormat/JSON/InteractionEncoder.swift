public import CassetteModel
public import TapeBytes

/// Writes one interaction as an element of a cassette's `interactions` array (docs/cassette-format.md).
///
/// Does not write the comma or line end around it, and does no I/O.
public enum InteractionEncoder {
    /// An interaction's braces are indented by this many levels.
    public static let depth = 2

    /// Appends the interaction's text to what the writer already contains.
    public static func encode(_ interaction: Interaction, into writer: inout JSONWriter) {
        writer.beginFragment(baseDepth: self.depth)
        writer.indent(depth: self.depth)
        writer.beginObject(.lines)
        writer.member("id")
        writer.integer(interaction.id)
        writer.member("started")
        writer.timestamp(interaction.started)
        if interaction.repeats {
            writer.member("repeat")
            writer.bool(true)
        }
        if let stub = interaction.stub {
            writer.member("stub")
            writer.beginObject(.inline)
            let lists = [("exact", stub.exact), ("includes", stub.includes), ("joined", stub.joined), ("single", stub.single)]
            for (name, places) in lists where !places.isEmpty || name == "exact" {
                writer.member(named: name)
                writer.beginArray(.inline)
                for place in places {
                    writer.element()
                    writer.string(place.text)
                }
                writer.endArray()
            }
            writer.unknown(stub.unknown)
            writer.endObject()
        }
        writer.member("request")
        self.request(interaction.request, &writer)
        if !interaction.interim.isEmpty {
            writer.member("interim")
            writer.beginArray(.lines)
            for interim in interaction.interim { self.interim(interim, &writer) }
            writer.endArray()
        }
        if let response = interaction.response {
            writer.member("response")
            self.response(response, &writer)
        }
        self.outcome(interaction.outcome, &writer)
        if let tunnel = interaction.tunnel {
            writer.member("tunnel")
            writer.beginObject(.inline)
            writer.member("sent")
            writer.integer(tunnel.sent)
            writer.member("received")
            writer.integer(tunnel.received)
            writer.unknown(tunnel.unknown)
            writer.endObject()
        }
        self.timing(interaction.timing, &writer)
        if let connection = interaction.connection {
            writer.member("connection")
            ConnectionEncoder.encode(connection, into: &writer)
        }
        if let messages = interaction.webSocket {
            writer.member("webSocket")
            WebSocketMessageCoder.encode(messages, into: &writer)
        }
        if let modified = interaction.modified {
            writer.member("modified")
            writer.beginObject(.inline)
            writer.member("rules")
            writer.beginArray(.inline)
            for name in modified.rules {
                writer.element()
                writer.string(name)
            }
            writer.endArray()
            if let url = modified.forwardedTo {
                writer.member("forwardedTo")
                writer.string(url)
            }
            writer.unknown(modified.unknown)
            writer.endObject()
        }
        writer.unknown(interaction.unknown)
        writer.endObject()
    }

    // MARK: Messages

    private static func request(_ request: RecordedRequest, _ writer: inout JSONWriter) {
        writer.beginObject(.lines)
        writer.member("method")
        writer.string(request.method)
        if let connectProtocol = request.connectProtocol {
            writer.member("protocol")
            writer.string(connectProtocol)
        }
        writer.member("url")
        writer.string(request.url)
        if let target = request.target {
            writer.member("target")
            writer.string(target)
        }
        writer.member("version")
        self.version(request.version, &writer)
        writer.member("headers")
        self.fields(request.headers, &writer)
        if let body = request.body {
            writer.member("body")
            BodyEncoder.encode(body, headers: request.headers, into: &writer)
        }
        if let trailers = request.trailers {
            writer.member("trailers")
            self.fields(trailers, &writer)
        }
        if let note = request.note {
            writer.member("note")
            writer.string(note)
        }
        writer.unknown(request.unknown)
        writer.endObject()
    }

    private static func response(_ response: RecordedResponse, _ writer: inout JSONWriter) {
        writer.beginObject(.lines)
        writer.member("status")
        writer.integer(response.status)
        if let after = response.after {
            writer.member("after")
            writer.integer(after)
        }
        if let after = response.endAfter {
            writer.member("endAfter")
            writer.integer(after)
        }
        // HTTP/2 and later have no reason (RFC 9113, 8.3.2).
        if response.version.major < 2 || !response.reason.isEmpty || response.omitsReasonSpace {
            writer.member("reason")
            self.reason(response.reason, response.omitsReasonSpace, &writer)
        }
        writer.member("version")
        self.version(response.version, &writer)
        writer.member("headers")
        self.fields(response.headers, &writer)
        if let body = response.body {
            writer.member("body")
            BodyEncoder.encode(body, headers: response.headers, into: &writer)
        }
        if let trailers = response.trailers {
            writer.member("trailers")
            self.fields(trailers, &writer)
        }
        if let codedHeaders = response.codedHeaders {
            writer.member("codedHeaders")
            self.fields(codedHeaders, &writer)
        }
        writer.unknown(response.unknown)
        writer.endObject()
    }

    private static func interim(_ interim: InterimResponse, _ writer: inout JSONWriter) {
        writer.element()
        writer.beginObject(.lines)
        writer.member("at")
        writer.milliseconds(interim.at)
        writer.member("version")
        self.version(interim.version, &writer)
        writer.member("status")
        writer.integer(interim.status)
        if interim.version.major < 2 || !interim.reason.isEmpty || interim.omitsReasonSpace {
            writer.member("reason")
            self.reason(interim.reason, interim.omitsReasonSpace, &writer)
        }
        writer.member("headers")
        self.fields(interim.headers, &writer)
        writer.unknown(interim.unknown)
        writer.endObject()
    }

    private static func version(_ version: HTTPVersion, _ writer: inout JSONWriter) {
        if version == .http11 { return writer.raw("\"HTTP/1.1\"") }
        if version == .http2 { return writer.raw("\"HTTP/2.0\"") }
        writer.string(version.description)
    }

    private static func fields(_ fields: HeaderFields, _ writer: inout JSONWriter) {
        writer.beginArray(.lines)
        fields.withBytes { bytes in
            for index in 0..<fields.count {
                writer.element()
                HeadBytes.write(UnsafeRawBufferPointer(rebasing: bytes[fields.lineRange(at: index)]), &writer)
            }
        }
        writer.endArray()
    }

    // MARK: About the exchange

    /// Null means a status line that ends after the status.
    private static func reason(_ reason: [UInt8], _ omitsSpace: Bool, _ writer: inout JSONWriter) {
        guard !omitsSpace || !reason.isEmpty else { return writer.raw("null") }
        reason.withUnsafeBytes { HeadBytes.write($0, &writer) }
    }

    private static func outcome(_ outcome: Outcome, _ writer: inout JSONWriter) {
        switch outcome {
        case .complete: return
        case .cut(let cut):
            writer.member("outcome")
            writer.beginObject(.inline)
            writer.member("cut")
            writer.string(cut.by.rawValue)
            if let kind = cut.kind {
                writer.member("kind")
                writer.string(kind.rawValue)
            }
            writer.member("reason")
            writer.string(cut.reason)
            self.code(cut.code, &writer)
            writer.unknown(cut.unknown)
        case .failed(let failure):
            writer.member("outcome")
            writer.beginObject(.inline)
            writer.member("failed")
            writer.string(failure.kind.rawValue)
            writer.member("message")
            writer.string(failure.message)
            if let answered = failure.answered {
                writer.member("answered")
                writer.string(answered.rawValue)
            }
            if failure.isClose {
                writer.member("closed")
                writer.bool(true)
            }
            self.code(failure.code, &writer)
            writer.unknown(failure.unknown)
        }
        writer.endObject()
    }

    private static func code(_ code: Int?, _ writer: inout JSONWriter) {
        guard let code else { return }
        writer.member("code")
        writer.integer(code)
    }

    private static func timing(_ timing: Timing, _ writer: inout JSONWriter) {
        writer.member("timing")
        writer.beginObject(.inline)
        func phase(_ name: StaticString, _ value: Double?) {
            guard let value else { return }
            writer.member(name)
            writer.milliseconds(value)
        }
        phase("blocked", timing.blocked)
        phase("dns", timing.dns)
        phase("connect", timing.connect)
        phase("tls", timing.tls)
        phase("send", timing.send)
        phase("wait", timing.wait)
        phase("receive", timing.receive)
        phase("total", timing.total)
        writer.unknown(timing.unknown)
        writer.endObject()
    }
}

/// Writes the `connection` member's value: on one line, or on several if it has certificates.
package enum ConnectionEncoder {
    static func encode(_ connection: ConnectionInfo, into writer: inout JSONWriter) {
        let hasChain = connection.tls.map { !$0.chain.isEmpty } ?? false
        writer.beginObject(hasChain ? .lines : .inline)
        writer.member("id")
        writer.integer(connection.id)
        if let stream = connection.stream {
            writer.member("stream")
            writer.integer(stream)
        }
        writer.member("remote")
        writer.string(connection.remote)
        if connection.isReused {
            writer.member("reused")
            writer.bool(true)
        }
        if let tls = connection.tls {
            writer.member("tls")
            self.encode(tls, into: &writer)
        }
        writer.unknown(connection.unknown)
        writer.endObject()
    }

    /// The value of a `tls` member without certificates, which is the same at any depth.
    package static func text(of tls: TLSDetails) -> [UInt8] {
        var writer = JSONWriter(reserving: 256)
        self.encode(tls, into: &writer)
        return writer.bytes
    }

    static func encode(_ tls: TLSDetails, into writer: inout JSONWriter) {
        if let text = tls.text { return writer.raw(text) }
        writer.beginObject(tls.chain.isEmpty ? .inline : .lines)
        writer.member("version")
        writer.string(tls.version)
        writer.member("cipher")
        writer.string(tls.cipher)
        if let alpn = tls.alpn {
            writer.member("alpn")
            writer.string(alpn)
        }
        if let sni = tls.sni {
            writer.member("sni")
            writer.string(sni)
        }
        if tls.isResumed {
            writer.member("resumed")
            writer.bool(true)
        }
        if !tls.chain.isEmpty {
            writer.member("chain")
            writer.beginArray(.lines)
            for certificate in tls.chain { self.certificate(certificate, &writer) }
            writer.endArray()
        }
        writer.unknown(tls.unknown)
        writer.endObject()
    }

    private static func certificate(_ certificate: RecordedCertificate, _ writer: inout JSONWriter) {
        writer.element()
        writer.beginObject(.lines)
        writer.member("sha256")
        writer.string(certificate.sha256)
        writer.member("subject")
        writer.string(certificate.subject)
        writer.member("issuer")
        writer.string(certificate.issuer)
        writer.member("notBefore")
        writer.shortTimestamp(certificate.notBefore)
        writer.member("notAfter")
        writer.shortTimestamp(certificate.notAfter)
        writer.unknown(certificate.unknown)
        writer.endObject()
    }
}

extension TLSDetails {
    /// The part that later exchanges on the same connection carry: version, cipher, ALPN and SNI.
    ///
    /// A new object with its text prepared. Create it once per connection, not for each exchange.
    public var withoutChain: TLSDetails {
        let plain = TLSDetails(version: self.version, cipher: self.cipher, alpn: self.alpn, sni: self.sni)
        return TLSDetails(
            version: self.version, cipher: self.cipher, alpn: self.alpn, sni: self.sni, isResumed: false, chain: [], unknown: [],
            text: ConnectionEncoder.text(of: plain))
    }
}
