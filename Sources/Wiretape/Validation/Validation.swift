public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A rule that a response has to follow to be no error.
public struct Validation: Sendable {
    /// - Parameters:
    ///   - request: as it went out last; nil where none did.
    ///   - data: the body; nil where it is not at hand, as for a download.
    /// - Throws: whatever the request is to fail with.
    public typealias Check = @Sendable (_ request: URLRequest?, _ response: HTTPResponse, _ data: Data?) throws -> Void

    private let check: Check

    /// A rule of one's own.
    public init(_ check: @escaping Check) {
        self.check = check
    }

    /// - Throws: `ValidationError`, or what a rule of one's own throws.
    public func validate(request: URLRequest?, response: HTTPResponse, data: Data?) throws {
        try self.check(request, response, data)
    }

    /// Statuses 200 to 299, and a content type that the request accepts.
    public static let `default` = Validation.statusCode(200..<300).and(.acceptedContentType)

    /// The status is one of these. Only the first 1,000 numbers count, and of those the ones from 100 to 999.
    public static func statusCode(_ acceptable: some Sequence<Int>) -> Validation {
        let codes = StatusCodes(acceptable)
        return Validation { request, response, _ in
            guard !codes.contains(response.status) else { return }
            throw ValidationError(
                .unacceptableStatus, status: response.status,
                "\(Self.shown(request, response)) has the status \(response.status), and \(codes) was wanted: look at the body, or validate other statuses"
            )
        }
    }

    /// The Content-Type is within one of these media ranges, as `application/json`, `text/*` or `*/*` (RFC 9110, 12.5.1). A response
    /// without a body may have any or none.
    public static func contentType(_ acceptable: some Sequence<String>) -> Validation {
        let accepted = AcceptedTypes(acceptable.joined(separator: ","))
        return Validation { try Self.checkType(accepted, $0, $1, $2) }
    }

    /// The Content-Type is one that the request's `Accept` asks for; any is where there is none.
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

    private static func checkType(_ accepted: AcceptedTypes, _ request: URLRequest?, _ response: HTTPResponse, _ data: Data?) throws {
        if let data, data.isEmpty { return }
        // Without data at hand, the statuses that never have a body.
        guard
            data != nil
                || !EmptyBodyRule(requestMethods: [.head], responseCodes: [204, 205, 304]).allows(
                    method: request?.method, status: response.status)
        else { return }
        guard let type = response.headers.value(for: "Content-Type") else {
            guard !accepted.acceptsAnything else { return }
            throw ValidationError(
                .missingContentType, status: response.status,
                "\(self.shown(request, response)) has no Content-Type, and \(accepted) was wanted: accept \"*/*\" where that is right")
        }
        guard accepted.accepts(type) else {
            throw ValidationError(
                .unacceptableContentType, status: response.status,
                "\(self.shown(request, response)) has the Content-Type \"\(PlainText.escape(type.utf8, limit: 200))\", and \(accepted) was wanted: look at the body, or accept that type"
            )
        }
    }

    /// Without the query, which may hold secrets.
    private static func shown(_ request: URLRequest?, _ response: HTTPResponse) -> String {
        let url = response.url.absoluteString
        let place = url.utf8.firstIndex { "?#".utf8.contains($0) }.map { url[..<$0] } ?? url[...]
        let withoutUser = response.url.user == nil ? String(place) : response.url.host ?? ""
        return "the response to \"\((request?.httpMethod).map { "\($0) " } ?? "")\(PlainText.escape(withoutUser.utf8, limit: 500))\""
    }
}
