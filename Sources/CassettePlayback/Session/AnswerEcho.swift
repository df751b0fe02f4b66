internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The client's own ids in one request that its answer repeats: the id of a JSON-RPC call, an `Idempotency-Key`, an `X-Request-Id`, the
/// `state` of OAuth, and the `Origin` of a page, which `Access-Control-Allow-Origin` repeats (Fetch, 3.2.3).
///
/// Rules allow these values to differ from the recorded ones, and clients match answers to requests by them. Wherever the recorded answer
/// repeats the recorded value, the replay sends the client's. Compared by identity, since each is made for one request.
public final class AnswerEcho: Sendable {
    /// A shorter value of a header field is not searched for in bodies, since it may occur there by chance.
    static let lengthInBodies = 16

    /// The fields as the cassette would contain them.
    private let headers: HeaderFields
    private let values: [ExemptValue]
    /// Of the query.
    private let items: [EchoedItems.Item]
    private let rules: MatchRules
    private let redaction: LiveRedactor?

    /// Nil if the request has no such values.
    init?(url: String, headers: HeaderFields, values: [ExemptValue], rules: MatchRules, redaction: LiveRedactor?) {
        let items = EchoedItems.own(url: url, rules)
        guard !values.isEmpty || !items.isEmpty || (0..<headers.count).contains(where: { Self.isOwn(headers, $0, rules) }) else {
            return nil
        }
        self.headers = headers
        self.values = values
        self.items = items
        self.rules = rules
        self.redaction = redaction
    }

    // MARK: Header fields

    /// A field that repeats a field of another name.
    private static let allowedOrigin = "access-control-allow-origin"

    /// Fields that describe a message, a connection or a cache. Client and server may send the same value independently.
    private static let descriptive: Set<String> = [
        "accept", "accept-encoding", "age", "cache-control", "connection", "date", "etag", "expires", "host", "keep-alive", "last-modified",
        "link", "pragma", "range", "te", "trailer", "transfer-encoding", "upgrade", "vary", "via", "warning",
    ]

    /// Whether the client generates the field's value: its name says it is an id, or rules ignore it or have a pattern for it.
    private static func isOwn(_ headers: HeaderFields, _ index: Int, _ rules: MatchRules) -> Bool {
        // This runs for every request, so most fields are ruled out by the last letter of their names.
        let last = (headers.nameBytes(at: index).last ?? 0) | 0x20
        let isOfThese = last == UInt8(ascii: "d") || last == UInt8(ascii: "y") || last == UInt8(ascii: "n")
        guard isOfThese || !rules.ignored.isEmpty || !rules.patterns.isEmpty else { return false }
        if headers.isNamed("origin", at: index) { return true }
        let name = headers.name(at: index).lowercased()
        guard !self.descriptive.contains(name), !name.hasPrefix("content-") else { return false }
        if name.hasSuffix("-id") || name.hasSuffix("idempotency-key") { return true }
        return rules.ignoresField(name) || rules.substitute(for: Array(headers.valueBytes(at: index)), ofField: name) != nil
    }

    /// The values that differ from the recorded ones, by the names of their fields in lower case.
    private func differing(from recorded: HeaderFields) -> [String: (recorded: String, live: String)] {
        var found: [String: (recorded: String, live: String)] = [:]
        func values(_ fields: HeaderFields, _ name: String) -> [String] {
            (0..<fields.count).filter { fields.name(at: $0).lowercased() == name }.map { fields.value(at: $0) }
        }
        for index in 0..<self.headers.count where Self.isOwn(self.headers, index, self.rules) {
            let name = self.headers.name(at: index).lowercased()
            let (old, new) = (values(recorded, name), values(self.headers, name))
            guard old.count == 1, new.count == 1, old[0] != new[0], !old[0].isEmpty, !new[0].isEmpty else { continue }
            found[name == "origin" ? Self.allowedOrigin : name] = (old[0], new[0])
        }
        return found
    }

    private static func replaced(in fields: HeaderFields, _ own: [String: (recorded: String, live: String)]) -> HeaderFields {
        var replaced = HeaderFields()
        for index in 0..<fields.count {
            if let pair = own[fields.name(at: index).lowercased()], fields.value(at: index) == pair.recorded {
                replaced.append(name: fields.name(at: index), value: pair.live)
            } else {
                replaced.append(line: fields.line(at: index))
            }
        }
        return replaced
    }

    // MARK: The answer

    /// Replaces the recorded values by the client's. Reads from disk.
    ///
    /// Throws if the recorded request or the answer's body cannot be read.
    func apply(
        to interaction: inout Interaction, bodies: BodyReader, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        guard var response = interaction.response else { return }
        let request = interaction.request
        let own = self.differing(from: request.headers)
        if !own.isEmpty {
            response.headers = Self.replaced(in: response.headers, own)
            response.codedHeaders = response.codedHeaders.map { Self.replaced(in: $0, own) }
            response.trailers = response.trailers.map { Self.replaced(in: $0, own) }
        }
        var echo = EchoedValues()
        for (name, pair) in own where name != Self.allowedOrigin && pair.recorded.utf8.count >= Self.lengthInBodies {
            echo.learn(word: pair.recorded, live: pair.live)
        }
        var recordedItems = EchoedItems.own(url: request.url, self.rules)
        if !self.values.isEmpty {
            let facets = try BodyFacets(
                recorded: request.body, headers: request.headers, url: request.url, rules: self.rules, reader: bodies,
                redaction: self.redaction, digest: digest)
            let method = facets.facets.first { $0.place == .json && $0.name.elementsEqual("/method".utf8) }?.value
            echo.learn(recorded: facets.exempt, live: self.values, method: method)
            recordedItems += facets.exempt.compactMap(\.formField)
        }
        let items = EchoedItems(recorded: recordedItems, live: self.items + self.values.compactMap(\.formField))
        if !items.isEmpty {
            response.headers = items.replaced(in: response.headers)
            response.codedHeaders = response.codedHeaders.map(items.replaced(in:))
        }
        if !echo.isEmpty || !items.isEmpty, let body = response.body, Self.isSearched(body) {
            try self.apply(echo, items, to: body, of: &response, bodies, digest)
        }
        interaction.response = response
    }

    /// Texts, and bytes that may be text. Forms, parts and gRPC messages contain no JSON of their own.
    private static func isSearched(_ body: Body) -> Bool {
        guard body.byteCount <= EchoedValues.sizeLimit else { return false }
        return switch body.content {
        case .text, .json, .lines, .events, .file, .raw: true
        case .empty, .encodedText, .form, .multipart, .grpc, .binary: false
        }
    }

    private func apply(
        _ echo: EchoedValues, _ items: EchoedItems, to body: Body, of response: inout RecordedResponse, _ bodies: BodyReader,
        _ digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        let content: [UInt8]
        do {
            content = try BodyRestorer.decodedBytes(of: body, file: { try bodies.read($0, digest: digest()) }, raw: { try bodies.read($0) })
        } catch {
            throw CassetteError(restoring: error)
        }
        guard content.count <= EchoedValues.sizeLimit else { return }
        var edits = items.edits(in: content)
        if !echo.isEmpty { edits += Self.texts(in: content, response.headers).flatMap { echo.edits(in: $0) } }
        try response.edit(body, content, EditList(edits), bodies: bodies, digest: digest)
    }

    /// The JSON texts of a body: the whole of it, or each of its lines or events.
    private static func texts(in content: [UInt8], _ headers: HeaderFields) -> [ArraySlice<UInt8>] {
        let type = (headers.first("content-type") ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        switch type {
        case "text/event-stream":
            let mark = Array("data:".utf8)
            return content.split { $0 == 10 || $0 == 13 }.compactMap { line in
                line.starts(with: mark) ? line.dropFirst(mark.count) : nil
            }
        case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq", "application/jsonlines":
            return content.split { $0 == 10 || $0 == 0x1e }
        default: return [content[...]]
        }
    }
}

extension AnswerEcho: Hashable {
    public static func == (left: AnswerEcho, right: AnswerEcho) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
