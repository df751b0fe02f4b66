internal import CassetteModel
public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// A rule that a response must satisfy; otherwise the request fails.
    public struct Validation: Sendable {
        /// - Parameters:
        ///   - request: as last sent; nil if none was sent.
        ///   - data: the body; nil if it is not in memory, such as for a download.
        /// - Throws: the error that the request fails with.
        public typealias Check = @Sendable (_ request: URLRequest?, _ response: Response, _ data: Data?) throws -> Void

        private let check: Check

        /// A custom rule.
        public init(_ check: @escaping Check) {
            self.check = check
        }

        /// - Throws: `ValidationError`, or the error of a custom rule.
        public func validate(request: URLRequest?, response: Response, data: Data?) throws {
            try self.check(request, response, data)
        }

        /// Statuses 200 to 299, and a content type that the request accepts.
        public static let `default` = Validation.statusCode(200..<300).and(.acceptedContentType)

        /// The status is one of these. Uses only the first 1,000 numbers, and of those only 100 to 999.
        public static func statusCode(_ acceptable: some Sequence<Int>) -> Validation {
            let codes = StatusCodes(acceptable)
            return Validation { request, response, data in
                guard !codes.contains(response.status) else { return }
                throw ValidationError(
                    .unacceptableStatus, status: response.status, data,
                    "\(Self.shown(request, response)) has the status \(response.status), expected \(codes): look at the body, or validate other statuses"
                )
            }
        }

        /// The Content-Type is in one of these media ranges, such as `application/json`, `text/*` or `*/*` (RFC 9110, 12.5.1). A response
        /// without a body may have any or none.
        public static func contentType(_ acceptable: some Sequence<String>) -> Validation {
            let accepted = AcceptedTypes(acceptable.joined(separator: ","))
            return Validation { try Self.checkType(accepted, $0, $1, $2) }
        }

        /// The Content-Type is one that the request's `Accept` allows; without `Accept`, any.
        public static let acceptedContentType = Validation { request, response, data in
            try Self.checkType(AcceptedTypes(request?.headers.value(for: "Accept") ?? "*/*"), request, response, data)
        }

        /// Both rules, this one first.
        public func and(_ other: Validation) -> Validation {
            Validation { request, response, data in
                try self.check(request, response, data)
                try other.check(request, response, data)
            }
        }

        private static func checkType(_ accepted: AcceptedTypes, _ request: URLRequest?, _ response: Response, _ data: Data?) throws {
            if let data, data.isEmpty { return }
            // If the body is not in memory, exempt requests and statuses that never have one.
            guard
                data != nil
                    || !EmptyBodyRule(requestMethods: [.head], responseCodes: [204, 205, 304]).allows(
                        method: request?.method, status: response.status)
            else { return }
            guard let type = response.headers.value(for: "Content-Type") else {
                guard !accepted.acceptsAnything else { return }
                throw ValidationError(
                    .missingContentType, status: response.status, data,
                    "\(self.shown(request, response)) has no Content-Type, expected \(accepted): accept \"*/*\" if none is needed")
            }
            guard accepted.accepts(type) else {
                throw ValidationError(
                    .unacceptableContentType, status: response.status, data,
                    "\(self.shown(request, response)) has the Content-Type \"\(PlainText.escape(type.utf8, limit: 200))\", expected \(accepted): look at the body, or accept that type"
                )
            }
        }

        /// Shows only the names in the query, because its values may be secrets.
        private static func shown(_ request: URLRequest?, _ response: Response) -> String {
            let url = PlainText.escape(LogURL.text(response.url).utf8, limit: 500)
            return "the response to \"\((request?.httpMethod).map { "\($0) " } ?? "")\(url)\""
        }
    }
}

/// A complete response that a validation rejects.
public struct ValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// The status of the response.
    public var status: Int
    /// The body of the response; nil if it is not in memory, such as for a download.
    public var data: Data?
    /// Names the property of the response and the expectation of the rule.
    public var message: String

    init(_ code: Code, status: Int, _ data: Data?, _ message: String) {
        self.code = code
        self.status = status
        self.data = data
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case unacceptableStatus, missingContentType, unacceptableContentType }

        private var value: Value

        public static var unacceptableStatus: Self { Self(value: .unacceptableStatus) }
        /// A body without a Content-Type, and not every type is accepted.
        public static var missingContentType: Self { Self(value: .missingContentType) }
        public static var unacceptableContentType: Self { Self(value: .unacceptableContentType) }

        public var description: String { "\(self.value)" }
    }
}

/// A set of statuses, described as ranges.
struct StatusCodes: Sendable, CustomStringConvertible {
    /// There are 900 statuses, and a sequence may have no end.
    private static let limit = 1000

    private let codes: Set<Int>

    init(_ codes: some Sequence<Int>) {
        var known: Set<Int> = []
        for code in codes.prefix(Self.limit) where (100...999).contains(code) { known.insert(code) }
        self.codes = known
    }

    func contains(_ status: Int) -> Bool { self.codes.contains(status) }

    /// `200 to 299, or 404`
    var description: String {
        guard !self.codes.isEmpty else { return "none" }
        var ranges: [ClosedRange<Int>] = []
        for code in self.codes.sorted() {
            if let last = ranges.last, last.upperBound == code - 1 {
                ranges[ranges.count - 1] = last.lowerBound...code
            } else {
                ranges.append(code...code)
            }
        }
        let texts = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
        guard let last = texts.last, texts.count > 1 else { return texts.joined() }
        return texts.dropLast().joined(separator: ", ") + " or " + last
    }
}

/// The media types that an `Accept` field allows (RFC 9110, 12.5.1).
struct AcceptedTypes: Sendable, CustomStringConvertible {
    /// The most ranges of one field; browsers send ten.
    private static let limit = 1000

    private let ranges: [MediaRange]
    private let text: String

    init(_ field: String) {
        self.text = field
        self.ranges = Self.elements(of: field).prefix(Self.limit).compactMap { MediaRange($0) }
    }

    /// A field without any valid range accepts anything.
    var acceptsAnything: Bool { self.ranges.isEmpty || self.ranges.contains { $0.type == "*" && $0.weight > 0 } }

    /// An invalid content type matches only `*/*`.
    func accepts(_ contentType: String) -> Bool {
        guard !self.ranges.isEmpty else { return true }
        guard let type = MediaRange(contentType) else { return self.acceptsAnything }
        let best = self.ranges.filter { $0.includes(type) }.max { $0.precedence < $1.precedence }
        return best.map { $0.weight > 0 } ?? false
    }

    var description: String { "\"\(PlainText.escape(self.text.utf8, limit: 200))\"" }

    /// Splits at commas outside quotes.
    private static func elements(of field: String) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return field.split { character in
            if isEscaped {
                isEscaped = false
                return false
            }
            if character == "\\", isQuoted { isEscaped = true }
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }
}

/// One media range of an `Accept` field with its weight (RFC 9110, 12.5.1).
struct MediaRange: Sendable, Hashable {
    /// In lower case; `*` for any.
    let type: String
    let subtype: String
    /// Parameters that a content type must have too. Names are in lower case, values as written.
    let parameters: [String: String]
    /// From 0 to 1; 0 rejects the type.
    let weight: Double

    /// Nil if it is not a media range. `*` alone, which some clients send, is `*/*`.
    init?(_ text: some StringProtocol) {
        let value = MIMEParameters(text.utf8)
        let names = value.value == "*" ? ["*", "*"] : value.value.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(HTTPSession.Headers.isTokenCharacter) }),
            names[0] != "*" || names[1] == "*"
        else { return nil }
        (self.type, self.subtype) = (names[0], names[1])
        var parameters: [String: String] = [:]
        var weight = 1.0
        for parameter in value.parameters {
            let text = String(decoding: parameter.value, as: UTF8.self)
            // Parameters after the weight are not parameters of the type.
            if parameter.name == "q" {
                weight = Double(text).map { min(max($0, 0), 1) } ?? 1
                break
            }
            parameters[parameter.name] = text
        }
        self.parameters = parameters
        self.weight = weight
    }

    /// The most specific of several ranges applies: `type/subtype;parameter`, `type/subtype`, `type/*`, `*/*`.
    var precedence: Int { (self.type == "*" ? 0 : 1) + (self.subtype == "*" ? 0 : 1) + self.parameters.count }

    /// - Parameter other: a content type.
    func includes(_ other: MediaRange) -> Bool {
        guard self.type == "*" || self.type == other.type, self.subtype == "*" || self.subtype == other.subtype else { return false }
        return self.parameters.allSatisfy { other.parameters[$0]?.lowercased() == $1.lowercased() }
    }
}
