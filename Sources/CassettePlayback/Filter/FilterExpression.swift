package import CassetteModel
internal import TapeBytes

/// A parsed filter.
package indirect enum FilterExpression: Sendable {
    case flag(FilterTerm)
    case status(Int)
    case grpc(GRPCStatus)
    case version(HTTPVersion)
    case pattern(FilterTerm, FilterPattern)
    case not(FilterExpression)
    case and(FilterExpression, FilterExpression)
    case or(FilterExpression, FilterExpression)

    /// Without user information, port and brackets.
    package static func host(of url: String) -> String {
        var url = url
        return url.withUTF8 { bytes in
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
            let hasScheme = colon + 2 < bytes.count && bytes[colon + 1] == UInt8(ascii: "/") && bytes[colon + 2] == UInt8(ascii: "/")
            let start = hasScheme ? colon + 3 : 0
            let end =
                bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
            var authority = bytes[start..<end]
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
            if authority.first == UInt8(ascii: "["), let close = authority.firstIndex(of: UInt8(ascii: "]")) {
                authority = authority[(authority.startIndex + 1)..<close]
            } else if let colon = authority.lastIndex(of: UInt8(ascii: ":")) {
                authority = authority[..<colon]
            }
            return String(decoding: UnsafeBufferPointer(rebasing: authority), as: UTF8.self)
        }
    }
}

/// A condition of a filter, by its letters in mitmproxy (docs.mitmproxy.org, Filter Expressions).
///
/// Has the conditions that a cassette can answer, and two that mitmproxy does not have: `~grpc` and `~hv`.
package enum FilterTerm: String, CaseIterable, Sendable {
    case asset = "a"
    case all
    case body = "b"
    case requestBody = "bq"
    case responseBody = "bs"
    case status = "c"
    case domain = "d"
    case destination = "dst"
    case failed = "e"
    case grpc
    case header = "h"
    case requestHeader = "hq"
    case responseHeader = "hs"
    case version = "hv"
    case http
    case method = "m"
    case unanswered = "q"
    case answered = "s"
    case type = "t"
    case requestType = "tq"
    case responseType = "ts"
    case url = "u"
    case webSocket = "websocket"

    package enum Argument { case none, pattern, number, grpc, version }

    package var argument: Argument {
        switch self {
        case .asset, .all, .failed, .http, .unanswered, .answered, .webSocket: .none
        case .status: .number
        case .grpc: .grpc
        case .version: .version
        case .body, .requestBody, .responseBody, .domain, .destination, .header, .requestHeader, .responseHeader, .method, .type,
            .requestType,
            .responseType, .url:
            .pattern
        }
    }

    /// All conditions, for messages.
    package static let known = Self.allCases.map { "~\($0.rawValue)" }.sorted().joined(separator: " ")
}

/// As the parser reads it, with the parentheses that it needs.
extension FilterExpression: CustomStringConvertible {
    package var description: String {
        switch self {
        case .flag(let term): "~\(term.rawValue)"
        case .status(let status): "~\(FilterTerm.status.rawValue) \(status)"
        case .grpc(let status): "~\(FilterTerm.grpc.rawValue) \(status.name)"
        case .version(let version): "~\(FilterTerm.version.rawValue) \(version.major).\(version.minor)"
        case .pattern(let term, let pattern): "~\(term.rawValue) \(Self.word(pattern.source))"
        case .not(let inner): "!\(inner.operand)"
        case .and(let left, let right): "\(left.operand) & \(right.operand)"
        case .or(let left, let right): "\(left.operand) | \(right.operand)"
        }
    }

    private var operand: String {
        switch self {
        case .and, .or: "(\(self.description))"
        case .flag, .status, .grpc, .version, .pattern, .not: self.description
        }
    }

    private static func word(_ source: String) -> String {
        let isPlain = !source.isEmpty && !source.contains { $0.isWhitespace || "()~'\"&|!".contains($0) }
        guard !isPlain else { return source }
        return source.contains("\"") ? "'\(source.replacing("'", with: "\\'"))'" : "\"\(source)\""
    }
}
