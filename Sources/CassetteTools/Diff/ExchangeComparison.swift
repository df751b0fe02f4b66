public import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// The differences between two recorded exchanges of the same request, field by field.
///
/// Unless everything is requested, leaves out incidental differences: the start, the duration, the connection, and the header fields of
/// `VolatileFields`.
public struct ExchangeComparison {
    private let bodies: BodyComparison
    private let conversations: ConversationComparison
    private let showsAll: Bool

    /// - Parameters:
    ///   - old: the path of the first exchanges' cassette, for the files next to it; `new` is that of the second ones.
    ///   - digest: makes a fresh SHA-256.
    public init(old: String, new: String, showsAll: Bool, digest: @escaping () -> any ContentDigest = { PortableSHA256() }) {
        self.bodies = BodyComparison(
            old: BodyReader(cassettePath: old), new: BodyReader(cassettePath: new), digest: digest, showsAll: showsAll)
        self.conversations = ConversationComparison(bodies: self.bodies, showsAll: showsAll)
        self.showsAll = showsAll
    }

    /// All changes, starting with those of the request.
    public func changes(_ old: Interaction, _ new: Interaction) throws -> [FieldChange] {
        try self.requestChanges(old.request, new.request) + self.answerChanges(old, new)
    }

    public func requestChanges(_ old: RecordedRequest, _ new: RecordedRequest) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("method", old.method, new.method, &changes)
        let (one, other) = (URLPieces(old.url), URLPieces(new.url))
        self.note("url", SecretShapes.shownURL(one.base), SecretShapes.shownURL(other.base), &changes)
        changes += NamedValues.changes(
            one.query.map { ($0.name, $0.value ?? "") }, other.query.map { ($0.name, $0.value ?? "") }, kind: "query:",
            showsAll: self.showsAll)
        self.note("version", old.version.description, new.version.description, &changes)
        changes += HeaderComparison.changes(old.headers, new.headers, showsAll: self.showsAll)
        changes += try self.bodies.changes(old.body, new.body, fields: (old.headers, new.headers))
        changes += self.trailers(old.trailers, new.trailers)
        if self.showsAll { changes += self.form(old.body, new.body) }
        return changes.map { self.placed("request", $0) }
    }

    /// Changes of the response, and of how it ended.
    public func answerChanges(_ old: Interaction, _ new: Interaction) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("outcome", Self.words(old.outcome), Self.words(new.outcome), &changes, drift: .type)
        let interim = { (interaction: Interaction) in interaction.interim.map { String($0.status) }.joined(separator: ", ") }
        self.note("interim", interim(old), interim(new), &changes)
        switch (old.response, new.response) {
        case (nil, nil): break
        case (let one?, nil): changes.append(FieldChange("response", String(one.status), nil))
        case (nil, let other?): changes.append(FieldChange("response", nil, String(other.status)))
        case (let one?, let other?): changes += try self.responseChanges(one, other).map { self.placed("response", $0) }
        }
        changes += try self.conversations.changes(old.webSocket, new.webSocket).map { self.placed("websocket", $0) }
        self.note("modified", old.modified.map(Self.words), new.modified.map(Self.words), &changes)
        guard self.showsAll else { return changes }
        self.note("id", String(old.id), String(new.id), &changes)
        self.note("started", old.started.formatted, new.started.formatted, &changes)
        self.note("remote", old.connection?.remote, new.connection?.remote, &changes)
        self.note("total", old.timing.total.map { "\($0) ms" }, new.timing.total.map { "\($0) ms" }, &changes)
        return changes
    }

    private static func words(_ modified: Modification) -> String {
        modified.rules.joined(separator: ", ") + (modified.forwardedTo.map { " (forwarded to \($0))" } ?? "")
    }

    private func responseChanges(_ old: RecordedResponse, _ new: RecordedResponse) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("status", String(old.status), String(new.status), &changes, drift: .type)
        if old.status == new.status {
            self.note("reason", String(decoding: old.reason, as: UTF8.self), String(decoding: new.reason, as: UTF8.self), &changes)
        }
        self.note("version", old.version.description, new.version.description, &changes)
        changes += HeaderComparison.changes(old.headers, new.headers, showsAll: self.showsAll)
        changes += try self.bodies.changes(old.body, new.body, fields: (old.headers, new.headers))
        changes += self.trailers(old.trailers, new.trailers)
        if self.showsAll { changes += self.form(old.body, new.body) }
        return changes
    }

    private func trailers(_ old: HeaderFields?, _ new: HeaderFields?) -> [FieldChange] {
        HeaderComparison.changes(old ?? HeaderFields(), new ?? HeaderFields(), showsAll: self.showsAll).map { self.placed("trailer", $0) }
    }

    /// How the bytes arrived: their number on the wire, and the pieces.
    private func form(_ old: Body?, _ new: Body?) -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("size", old.map { String($0.size) }, new.map { String($0.size) }, &changes)
        let pieces = { (body: Body?) in body?.arrival.map { "\($0.pieces.count) \($0.isChunked ? "chunks" : "reads")" } }
        self.note("arrival", pieces(old), pieces(new), &changes)
        return changes
    }

    private static func words(_ outcome: Outcome) -> String {
        switch outcome {
        case .complete: "complete"
        case .cut(let cut): "cut by \(cut.by.rawValue)"
        case .failed(let failure): "failed: \(failure.kind.rawValue)"
        }
    }

    private func note(_ place: String, _ old: String?, _ new: String?, _ changes: inout [FieldChange], drift: Drift? = nil) {
        if old != new { changes.append(FieldChange(place, old, new, drift: drift)) }
    }

    private func placed(_ message: String, _ change: FieldChange) -> FieldChange {
        var change = change
        change.place = "\(message) \(change.place)"
        return change
    }
}

/// Compares two header sections: names ignoring case, and the values of each name in order.
enum HeaderComparison {
    static func changes(_ old: HeaderFields, _ new: HeaderFields, showsAll: Bool) -> [FieldChange] {
        NamedValues.changes(self.pairs(old, showsAll), self.pairs(new, showsAll), kind: "header:", showsAll: showsAll)
    }

    private static func pairs(_ fields: HeaderFields, _ showsAll: Bool) -> [(name: String, value: String)] {
        (0..<fields.count).compactMap { index in
            let name = fields.name(at: index).lowercased()
            guard showsAll || !VolatileFields.contains(name) else { return nil }
            let value = fields.value(at: index)
            return (name, name == "content-type" && !showsAll ? self.withoutBoundary(value) : value)
        }
    }

    /// The boundary is different in each request, and has no meaning.
    private static func withoutBoundary(_ value: String) -> String {
        guard value.lowercased().hasPrefix("multipart/") else { return value }
        let parameters = value.split(separator: ";").filter { !$0.drop { $0 == " " }.lowercased().hasPrefix("boundary=") }
        return parameters.joined(separator: ";")
    }
}

/// Parts that differ between recordings without having a meaning.
public enum VolatileFields {
    /// Header fields in lower case: times, request ids, names of the server that happened to answer, and fields that depend on the body.
    static let names: Set<String> = [
        "date", "age", "server-timing", "x-runtime", "x-response-time", "x-request-id", "request-id", "x-requestid", "x-correlation-id",
        "x-trace-id", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "traceparent", "tracestate", "b3",
        "uber-trace-id",
        "x-cloud-trace-context", "x-amzn-trace-id", "x-amzn-requestid", "x-amz-request-id", "x-amz-id-2", "x-amz-cf-id", "x-amz-cf-pop",
        "x-github-request-id", "cf-ray", "cf-cache-status", "x-served-by", "x-timer", "x-cache", "x-cache-hits", "x-vercel-id",
        "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used", "ratelimit-remaining", "ratelimit-reset", "ratelimit", "expires",
        "keep-alive", "content-length", "content-md5", "digest", "content-digest", "repr-digest",
    ]

    static func contains(_ name: String) -> Bool { self.names.contains(name) }
}

/// Compares lists of names with values: by name, and in order among the values of each name.
enum NamedValues {
    /// - Parameters:
    ///   - kind: the prefix of the name in a place, such as `query:`.
    ///   - showsAll: whether the numbers of placeholders are compared.
    static func changes(
        _ old: [(name: String, value: String)], _ new: [(name: String, value: String)], kind: String, showsAll: Bool
    ) -> [FieldChange] {
        let values = { (list: [(name: String, value: String)]) in Dictionary(grouping: list, by: \.name).mapValues { $0.map(\.value) } }
        let (before, after) = (values(old), values(new))
        var changes: [FieldChange] = []
        var seen: Set<String> = []
        for name in (old + new).map(\.name) where seen.insert(name).inserted {
            let (one, other) = (before[name], after[name])
            guard one != other else { continue }
            guard showsAll || one?.map(PlaceholderNumbers.leftOut) != other?.map(PlaceholderNumbers.leftOut) else { continue }
            let isOfOtherType = kind == "header:" && name == "content-type" && one != nil && other != nil
            changes.append(
                FieldChange(
                    kind + name, one?.joined(separator: ", "), other?.joined(separator: ", "), isSecret: SecretShapes.isSecretName(name),
                    drift: isOfOtherType ? .type : nil))
        }
        return changes
    }
}

/// Makes texts equal that differ only in the numbers of placeholders, since each recording numbers the same secrets differently.
public enum PlaceholderNumbers {
    /// Characters that occur in placeholders of every form, but in few texts.
    private static let mayBegin = Array("{%J-".utf8)

    /// The bytes without the number of each placeholder.
    public static func leftOut(_ bytes: [UInt8]) -> [UInt8] { self.leftOutInText(self.leftOutInNumbers(bytes)) }

    /// Numbers that replace secrets in JSON become equal.
    private static func leftOutInNumbers(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { text in
            guard var (range, _) = NumberPlaceholder.first(in: text, from: 0) else { return bytes }
            var (rest, start): ([UInt8], Int) = ([], 0)
            while true {
                rest += text[start..<range.lowerBound] + [UInt8(ascii: "0")]
                start = range.upperBound
                guard let next = NumberPlaceholder.first(in: text, from: start) else { break }
                range = next.range
            }
            return rest + text[start...]
        }
    }

    private static func leftOutInText(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: self.mayBegin.contains) else { return bytes }
        return bytes.withUnsafeBytes { text in
            var rest: [UInt8] = []
            rest.reserveCapacity(text.count)
            var index = 0
            while index < text.count {
                guard let found = Placeholder.spelled(in: text, at: index) else {
                    rest.append(text[index])
                    index += 1
                    continue
                }
                rest += "{{\(found.placeholder.kind):}}".utf8
                index += found.length
            }
            return rest
        }
    }

    public static func leftOut(_ text: String) -> String { String(decoding: self.leftOut(Array(text.utf8)), as: UTF8.self) }
}
