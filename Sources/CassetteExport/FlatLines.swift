package import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// Writes one line of JSON for each exchange (NDJSON), for engines that query millions of them.
///
/// A line is flat and small: bodies are there as size and SHA-256, and header fields as a map with names in lower case.
package struct FlatLines: ExchangeWriter {
    private let target: ExportTarget

    package init(_ target: ExportTarget) { self.target = target.visibleJSON() }

    package mutating func begin() throws {}

    package mutating func end() throws {}

    package mutating func append(_ interaction: Interaction, number: Int) throws {
        var writer = JSONWriter(reserving: 2048)
        writer.beginObject(.inline)
        func text(_ name: StaticString, _ value: String?) {
            guard let value else { return }
            writer.member(name)
            writer.string(value)
        }
        func count(_ name: StaticString, _ value: Int?) {
            guard let value else { return }
            writer.member(name)
            writer.integer(value)
        }
        func time(_ name: StaticString, _ value: Double?) {
            guard let value else { return }
            writer.member(name)
            writer.milliseconds(value)
        }
        text("cassette", self.target.name)
        count("number", number)
        count("id", interaction.id)
        text("started", interaction.started.formatted)
        text("method", interaction.request.method)
        text("url", interaction.request.url)
        let parts = Self.parts(of: interaction.request.url)
        text("scheme", parts.scheme)
        text("host", parts.host)
        text("path", parts.path)
        text("query", parts.query)
        text("version", "\(interaction.request.version)")
        count("status", interaction.response?.status)
        switch interaction.outcome {
        case .complete: text("outcome", "complete")
        case .cut(let cut): text("outcome", "cut by \(cut.by.rawValue)")
        case .failed(let failure): text("outcome", "failed: \(failure.kind.rawValue)")
        }
        text("remote", interaction.connection?.remote)
        if let connection = interaction.connection {
            writer.member("reused")
            writer.bool(connection.isReused)
        }
        self.fields("request_headers", interaction.request.headers, into: &writer)
        self.fields("response_headers", interaction.response?.headers ?? HeaderFields(), into: &writer)
        for (body, headers, names) in [
            (interaction.request.body, interaction.request.headers, ("request_type", "request_size", "request_sha256", "request_parts")),
            (
                interaction.response?.body, interaction.response?.headers ?? HeaderFields(),
                ("response_type", "response_size", "response_sha256", "response_parts")
            ),
        ] as [(Body?, HeaderFields, (StaticString, StaticString, StaticString, StaticString))] {
            text(names.0, headers.first("content-type").map { Self.mediaType($0) })
            count(names.1, body?.size ?? 0)
            text(names.2, body.flatMap { Self.digest(of: $0) })
            if case .multipart(let multipart)? = body?.content { count(names.3, multipart.parts.count) }
        }
        let timing = interaction.timing
        for (name, value) in [
            ("blocked_ms", timing.blocked), ("dns_ms", timing.dns), ("connect_ms", timing.connect), ("tls_ms", timing.tls),
            ("send_ms", timing.send), ("wait_ms", timing.wait), ("receive_ms", timing.receive), ("total_ms", timing.total),
        ] as [(StaticString, Double?)] { time(name, value) }
        writer.endObject()
        try self.target.write(writer.bytes + [10])
    }

    /// Several fields of a name are joined as RFC 9110, 5.3 has it.
    private func fields(_ name: StaticString, _ fields: HeaderFields, into writer: inout JSONWriter) {
        var names: [String] = []
        var values: [String: String] = [:]
        for index in 0..<fields.count {
            let name = fields.name(at: index).lowercased()
            let value = fields.value(at: index)
            if let known = values[name] {
                values[name] = "\(known), \(value)"
            } else {
                names.append(name)
                values[name] = value
            }
        }
        writer.member(name)
        writer.beginObject(.inline)
        for name in names {
            writer.member(named: name)
            writer.string(values[name] ?? "")
        }
        writer.endObject()
    }

    /// `application/json` of `application/json; charset=utf-8`.
    private static func mediaType(_ value: String) -> String {
        value.prefix { $0 != ";" }.split(separator: " ").joined().lowercased()
    }

    /// The SHA-256 of the bytes on the wire, as recorded; or else that of the content.
    private static func digest(of body: Body) -> String? {
        if let sha256 = body.sha256 { return sha256 }
        if case .file(let sidecar) = body.content { return sidecar.sha256 }
        guard let bytes = body.content.inlineBytes else { return nil }
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return Hex.encode(digest.finalize())
    }

    private static func parts(of url: String) -> (scheme: String?, host: String?, path: String?, query: String?) {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[colon...].hasPrefix("://") else { return (nil, nil, nil, nil) }
        let rest = url[url.index(colon, offsetBy: 3)...]
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let target = rest.dropFirst(host.count).prefix { $0 != "#" }
        let path = target.prefix { $0 != "?" }
        let query = path.count < target.count ? String(target.dropFirst(path.count + 1)) : nil
        return (String(url[..<colon]), String(host), path.isEmpty ? "/" : String(path), query)
    }
}
