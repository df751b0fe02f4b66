internal import CassetteFormat
public import CassetteModel
public import CassetteStore
public import TapeBytes

/// Computes an answer that was not recorded in this form: ranges of a representation, a body without its content codings, or one with the
/// client's own ids.
///
/// The result has the form of a recorded exchange, with its body in memory. Reads from disk.
public enum ComputedAnswer {
    /// At most this many bytes are computed for one answer.
    public static let limit = 64 << 20
    /// A longer coded or inline body is not split, since it would be held in memory.
    static let sourceLimit = 64 << 20

    /// - Parameters:
    ///   - index: the exchange whose head is used for the answer, in order of request start from 0.
    ///   - digest: makes a SHA-256.
    ///
    /// Throws the reason why the answer cannot be computed, with the next step.
    public static func interaction(
        at index: Int, form: AnswerForm, of cassette: RecordedCassette, bodies: BodyReader, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> Interaction {
        var interaction = try cassette.interaction(at: index)
        try form.echo?.apply(to: &interaction, bodies: bodies, digest: digest)
        guard var response = interaction.response else { return interaction }
        if let ranges = form.ranges {
            try self.compute(ranges, &response, cassette, bodies, digest)
            // The recorded client may have left a source.
            interaction.outcome = .complete
        } else if form.isDecoded, let body = response.body, body.size > 0 {
            let bytes = try self.decoded(body, id: interaction.id, response.headers, bodies, digest)
            let fields = self.decodedFields(response.headers)
            // Ranges that an origin may ignore are ignored here, too.
            if let ranges = form.decodedRange.flatMap(RangeRequest.init)?.ranges(of: bytes.count) {
                response.headers = fields
                try self.compute(ranges, of: bytes.count, &response, [(0..<bytes.count, ByteSource(bytes))])
            } else {
                self.replace(&response, with: bytes, fields: fields)
            }
        } else if form.isDecoded {
            // The answer to a HEAD request. Its length without the coding is unknown (RFC 9110, 9.3.2).
            response.headers = self.decodedFields(response.headers).removing("content-length")
            response.codedHeaders = nil
        }
        interaction.response = response
        return interaction
    }

    private static func replace(_ response: inout RecordedResponse, with bytes: [UInt8], fields: HeaderFields) {
        var fields = fields.removing("transfer-encoding").removing("content-length").removing("trailer")
        fields.append(name: "Content-Length", value: String(bytes.count))
        response.headers = fields
        response.codedHeaders = nil
        response.trailers = nil
        response.body = Body(size: bytes.count, content: bytes.isEmpty ? .empty : .binary(bytes))
    }

    // MARK: Without codings

    private static func decoded(
        _ body: Body, id: Int, _ headers: HeaderFields, _ bodies: BodyReader, _ digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> [UInt8] {
        let coding = headers.first("content-encoding") ?? ""
        if body.isUndecoded(headers) {
            throw CassetteError(
                .unreadable,
                "interaction \(id): its body is coded as \"\(PlainText.escape(coding.utf8, limit: 40))\", which this client does not accept, and was not decoded yet: run \"wiretape decode\" with the cassette first."
            )
        }
        guard !body.codings.isEmpty else {
            throw CassetteError(
                .unreadable,
                "interaction \(id): its body is coded as \"\(PlainText.escape(coding.utf8, limit: 40))\", which this client does not accept, and cannot be decoded: record it with this client."
            )
        }
        let source = try bodies.contentSource(of: body, digest: digest)
        guard source.size <= self.limit else {
            throw CassetteError(
                .tooLarge,
                "interaction \(id): its body has more than \(self.limit >> 20) MiB without the coding \"\(PlainText.escape(coding.utf8, limit: 40))\", which this client does not accept: record it with this client."
            )
        }
        return try self.bytes(0..<source.size, of: source)
    }

    /// Drops the fields that contain a checksum of the recorded body, recognised by words in their names.
    private static func withoutChecksums(_ headers: HeaderFields) -> HeaderFields {
        var fields = HeaderFields()
        for index in 0..<headers.count {
            let name = headers.name(at: index).lowercased()
            if ["digest", "checksum", "md5", "sha1", "sha256", "sha512", "crc", "hash"].contains(where: name.contains) { continue }
            fields.append(line: headers.line(at: index))
        }
        return fields
    }

    /// A strong validator applies only to the coded bytes (RFC 9110, 8.8.3).
    private static func decodedFields(_ headers: HeaderFields) -> HeaderFields {
        var fields = self.withoutChecksums(headers).removing("content-encoding").removing("accept-ranges")
        if let tag = fields.first("etag"), tag.hasPrefix("\"") { fields = fields.replacing("etag", with: "W/" + tag) }
        return fields
    }

    // MARK: Ranges

    private static func compute(
        _ ranges: ComputedRanges, _ response: inout RecordedResponse, _ cassette: RecordedCassette, _ bodies: BodyReader,
        _ digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        var sources: [(bytes: Range<Int>, source: ByteSource)] = []
        if !ranges.ranges.isEmpty {
            for source in ranges.sources { sources.append((source.bytes, try self.source(source, cassette, bodies, digest))) }
        }
        if ranges.isRepresentation, let whole = ranges.ranges.first {
            return self.replace(&response, with: try self.bytes(whole, of: sources), fields: response.headers)
        }
        try self.compute(ranges.ranges, of: ranges.length, &response, sources)
    }

    /// - Parameter ranges: empty for a 416.
    private static func compute(
        _ ranges: [Range<Int>], of length: Int, _ response: inout RecordedResponse, _ sources: [(bytes: Range<Int>, source: ByteSource)]
    ) throws(CassetteError) {
        let type = response.headers.first("content-type")
        var fields = self.withoutChecksums(response.headers).removing("content-range")
        guard !ranges.isEmpty else {
            fields.append(name: "Content-Range", value: "bytes */\(length)")
            (response.status, response.reason) = (416, Array("Range Not Satisfiable".utf8))
            return self.replace(&response, with: [], fields: fields.removing("content-type").removing("content-encoding"))
        }
        guard ranges.reduce(0, { $0 + $1.count }) <= self.limit else {
            throw CassetteError(
                .tooLarge, "the request asks for more than \(self.limit >> 20) MiB of a range that was not recorded: record this request.")
        }
        var parts: [[UInt8]] = []
        for range in ranges { parts.append(try self.bytes(range, of: sources)) }
        (response.status, response.reason) = (206, Array("Partial Content".utf8))
        guard parts.count > 1 else {
            fields.append(name: "Content-Range", value: self.contentRange(ranges[0], length))
            return self.replace(&response, with: parts[0], fields: fields)
        }
        let boundary = self.boundary(absentFrom: parts)
        var body: [UInt8] = []
        for (range, part) in zip(ranges, parts) {
            body += "\r\n--\(boundary)\r\n".utf8
            if let type { body += "Content-Type: \(type)\r\n".utf8 }
            body += "Content-Range: \(self.contentRange(range, length))\r\n\r\n".utf8
            body += part
        }
        body += "\r\n--\(boundary)--\r\n".utf8
        fields = fields.removing("content-type")
        fields.append(name: "Content-Type", value: "multipart/byteranges; boundary=\(boundary)")
        self.replace(&response, with: body, fields: fields)
    }

    private static func contentRange(_ range: Range<Int>, _ length: Int) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
    }

    /// The wire bytes of a recorded body. Any part of a large file can be read without the rest.
    private static func source(
        _ source: ComputedRanges.Source, _ cassette: RecordedCassette, _ bodies: BodyReader, _ digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ByteSource {
        let interaction = try cassette.interaction(at: source.index)
        guard let body = interaction.response?.body, body.size == source.bytes.count else {
            throw CassetteError(.damaged, "interaction \(interaction.id): its body was changed, so no range of it can be computed.")
        }
        if case .file(let sidecar) = body.content, body.codings.isEmpty, body.original == nil, sidecar.size > self.sourceLimit {
            return try bodies.uncheckedSource(sidecar)
        }
        let wire = try bodies.wireBytes(of: body, digest: digest).bytes
        guard wire.count == source.bytes.count else {
            throw CassetteError(
                .damaged,
                "interaction \(interaction.id): its body has \(wire.count) bytes instead of \(source.bytes.count), so no range of it can be computed."
            )
        }
        return ByteSource(wire)
    }

    private static func bytes(
        _ range: Range<Int>, of sources: [(bytes: Range<Int>, source: ByteSource)]
    ) throws(CassetteError) -> [UInt8] {
        var bytes: [UInt8] = []
        var next = range.lowerBound
        for (held, source) in sources where held.contains(next) && next < range.upperBound {
            let end = min(held.upperBound, range.upperBound)
            bytes += try self.bytes(next - held.lowerBound..<end - held.lowerBound, of: source)
            next = end
        }
        guard next == range.upperBound else {
            throw CassetteError(.damaged, "the recorded parts do not hold the bytes \(range.lowerBound)-\(range.upperBound - 1).")
        }
        return bytes
    }

    private static func bytes(_ range: Range<Int>, of source: ByteSource) throws(CassetteError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        do {
            try bytes.withUnsafeMutableBytes { try source.read(at: range.lowerBound, into: $0) }
        } catch {
            throw error as? CassetteError
                ?? CassetteError(.unreadable, "a body cannot be read (\(error)); record the exchange again", cause: error)
        }
        return bytes
    }

    /// A boundary that occurs in none of the parts, and is the same each time for the same parts.
    private static func boundary(absentFrom parts: [[UInt8]]) -> String {
        var number = 1
        while parts.contains(where: { self.contains(Array("wiretape-part-\(number)".utf8), in: $0) }) { number += 1 }
        return "wiretape-part-\(number)"
    }

    private static func contains(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
        guard bytes.count >= needle.count else { return false }
        return (0...bytes.count - needle.count).contains { bytes[$0] == needle[0] && bytes[$0..<$0 + needle.count].elementsEqual(needle) }
    }
}

/// The content codings that a request accepts (RFC 9110, 12.5.3).
public struct AcceptedCodings: Sendable, Hashable {
    /// Whether the weight is above 0, by coding in lower case.
    private var weights: [String: Bool] = [:]

    /// Nil if the request does not have the field; then every coding is acceptable.
    public init?(_ headers: HeaderFields) {
        guard headers.contains("accept-encoding") else { return nil }
        for value in headers.values("accept-encoding") {
            for member in value.split(separator: ",") {
                let parts = member.split(separator: ";").map { String($0.filter { $0 != " " && $0 != "\t" }).lowercased() }
                guard let name = parts.first, !name.isEmpty else { continue }
                let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 1 } ?? 1
                self.weights[Self.canonical(name)] = weight > 0
            }
        }
    }

    private static func canonical(_ name: String) -> String { name == "x-gzip" ? "gzip" : name == "x-compress" ? "compress" : name }

    /// Whether a body without codings is acceptable.
    public var acceptsIdentity: Bool { self.weights["identity"] ?? self.weights["*"] ?? true }

    /// Whether a body with these codings, as Content-Encoding lists them, is acceptable.
    public func accepts(_ contentEncoding: String) -> Bool {
        contentEncoding.split(separator: ",").allSatisfy { coding in
            let name = Self.canonical(String(coding.filter { $0 != " " && $0 != "\t" }).lowercased())
            return name == "identity" || name.isEmpty || self.weights[name] ?? self.weights["*"] ?? false
        }
    }
}
