internal import CassetteModel

/// Which requests a recorded answer is possible for, according to the protocol (RFC 9110, 12.5, 13.2.2 and 14.2).
enum AnswerKind: Sendable, Hashable {
    /// Answers only a request with the same preconditions or ranges.
    case partialContent, notModified, preconditionFailed, rangeNotSatisfiable
    /// Answers only a request with the same types, languages or codings: the origin refused those of the recorded one.
    case notAcceptable, unsupportedMediaType
    /// A whole representation, which does not answer a request for a part.
    case whole
    /// A whole representation of an origin that ignores ranges: it answered a request for a part, says so (RFC 9110, 14.3), or is a stream.
    case wholeForRange
    /// Any other answer, or none.
    case other

    init(_ interaction: Interaction) {
        self.init(status: interaction.response?.status)
        let request = interaction.request.headers
        let range = request.first("range")
        // The client left before any answer came, so nothing shows that the origin ignores ranges.
        if interaction.response == nil, range != nil, interaction.wasLeftByClient { self = .partialContent }
        guard let response = interaction.response, (200...299).contains(response.status) else { return }
        // Some origins send parts with status 200, or use units other than bytes.
        let isOfBytes = range?.lowercased().hasPrefix("bytes=") ?? true
        if response.headers.contains("content-range") || !isOfBytes {
            self = .partialContent
        } else if self == .whole, range != nil && !request.contains("if-range") || Self.hasNoRanges(response.headers) {
            self = .wholeForRange
        }
    }

    private static func hasNoRanges(_ headers: HeaderFields) -> Bool {
        headers.first("accept-ranges")?.lowercased() == "none"
            || headers.first("content-type")?.lowercased().hasPrefix("text/event-stream") == true
    }

    init(status: Int?) {
        self =
            switch status {
            case 200: .whole
            case 206: .partialContent
            case 304: .notModified
            case 412: .preconditionFailed
            case 406: .notAcceptable
            case 415: .unsupportedMediaType
            case 416: .rangeNotSatisfiable
            default: .other
            }
    }

    var isBound: Bool {
        switch self {
        case .partialContent, .notModified, .preconditionFailed, .rangeNotSatisfiable, .notAcceptable, .unsupportedMediaType: true
        case .whole, .wholeForRange, .other: false
        }
    }

    /// Whether the answer depends on what the request offers or accepts, which rules may ignore, and not on preconditions or ranges.
    var isNegotiated: Bool { self == .notAcceptable || self == .unsupportedMediaType }

    /// Whether the request's preconditions are evaluated against the representation in the recorded answer.
    var isConditional: Bool {
        switch self {
        case .partialContent, .whole, .wholeForRange, .notModified: true
        case .preconditionFailed, .rangeNotSatisfiable, .notAcceptable, .unsupportedMediaType, .other: false
        }
    }

    /// The request fields that the answer depends on.
    var names: [String] {
        switch self {
        case .partialContent, .rangeNotSatisfiable: ["range", "if-range", "x-ms-range"]
        case .notModified: ["if-none-match", "if-modified-since"]
        case .preconditionFailed: ["if-match", "if-none-match", "if-unmodified-since", "if-modified-since"]
        case .notAcceptable: Self.accepted
        case .unsupportedMediaType: Self.offered
        case .whole, .wholeForRange, .other: []
        }
    }

    /// The fields because of which an origin answers with 406 (RFC 9110, 12.5). `Accept-Encoding` never causes a miss.
    private static let accepted = ["accept", "accept-charset", "accept-language"]
    /// Those because of which it answers with 415 (RFC 9110, 15.5.16).
    private static let offered = ["content-type", "content-encoding"]
    static let negotiated = accepted + offered

    /// If the recorded request had any of these fields, a request needs at least one of them, whatever the rules ignore. Without one, this
    /// answer is not possible.
    var needed: [String] {
        switch self {
        case .partialContent, .rangeNotSatisfiable: ["range", "x-ms-range"]
        case .notAcceptable, .unsupportedMediaType: []
        case .notModified, .preconditionFailed, .whole, .wholeForRange, .other: self.names
        }
    }
}
