public import TapeBytes
public import Foundation

/// Where a response redirects a request to (RFC 9110, 15.4; the Fetch standard if the RFC leaves a choice).
///
/// Handles a single redirect. Sends nothing, and calls no `HTTPSession.RedirectHandler`.
public struct RedirectRule: Sendable, Hashable {
    public enum Decision: Sendable, Hashable {
        /// The response is final: no redirect, or one without a Location.
        case stay
        case follow(HTTPSession.Redirect)
        case refuse(RedirectError)
    }

    /// Redirects followed for one request, as in browsers (Fetch, 4.4); URLSession has about the same limit.
    public static let standardLimit = 20

    public var limit: Int

    public init(limit: Int = Self.standardLimit) { self.limit = limit }

    /// - Parameters:
    ///   - method: the method of the answered request.
    ///   - url: the URL of the answered request.
    ///   - hops: how many redirects were followed before.
    public func decide(method: String, url: URL, response: HTTPSession.Response, hops: Int) -> Decision {
        guard [301, 302, 303, 307, 308].contains(response.status) else { return .stay }
        let locations = response.headers.values(for: "Location")
        guard let location = locations.first else { return .stay }
        guard locations.allSatisfy({ $0 == location }) else {
            return .refuse(
                RedirectError(
                    .badLocation,
                    "the \(response.status) of \"\(LogURL.text(url))\" has \(locations.count) conflicting Location fields, \"\(RedirectTarget.shown(location))\" first: fix the server, or accept the redirect itself as the response with Redirector.doNotFollow"
                ))
        }
        guard hops < self.limit else {
            return .refuse(
                RedirectError(
                    .tooManyRedirects,
                    "\"\(LogURL.text(url))\" redirects again after \(hops) redirects: check whether the server redirects in a loop"
                ))
        }
        switch RedirectTarget.resolve(location, against: url) {
        case .success(let target):
            let (method, keepsBody) = Self.method(after: response.status, for: method)
            return .follow(HTTPSession.Redirect(from: url, to: target, method: method, keepsBody: keepsBody))
        case .failure(let error):
            return .refuse(
                RedirectError(
                    error.code,
                    "the \(response.status) of \"\(LogURL.text(url))\" \(error.message), or accept the redirect itself as the response with Redirector.doNotFollow"
                ))
        }
    }

    /// 303 points to another resource to GET; 301 and 302 turn a POST into GET by convention; 307 and 308 change nothing.
    private static func method(after status: Int, for method: String) -> (method: String, keepsBody: Bool) {
        switch (status, method) {
        case (303, "HEAD"), (303, "GET"): (method, false)
        case (303, _), (301, "POST"), (302, "POST"): ("GET", false)
        default: (method, true)
        }
    }
}

/// A redirect that cannot be followed.
///
/// The message says which response redirected where, and what to do next.
public typealias RedirectError = CodedError<HTTPSession.RedirectErrorCode>

extension HTTPSession {
    /// A kind of error; more kinds may be added.
    public struct RedirectErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case badLocation, unsupportedScheme, tooManyRedirects }

        private var value: Value

        /// The Location is not a URL reference or has no host, or there are several different ones.
        public static var badLocation: Self { Self(value: .badLocation) }
        /// The target is neither http nor https.
        public static var unsupportedScheme: Self { Self(value: .unsupportedScheme) }
        public static var tooManyRedirects: Self { Self(value: .tooManyRedirects) }

        public var description: String { "\(self.value)" }
    }
}

/// Resolves the Location of a response (RFC 9110, 10.2.2; RFC 3986, 5).
enum RedirectTarget {
    /// - Returns: an absolute http or https URL with a host, or an error whose message continues "the 302 of …".
    static func resolve(_ location: String, against base: URL) -> Result<URL, RedirectError> {
        let spelled = self.escaped(location.trimmingCharacters(in: .whitespaces))
        // An empty reference means the same document (RFC 3986, 5.2.2), but Foundation does not accept it.
        guard let resolved = URL(string: spelled.isEmpty ? "?" + (base.query(percentEncoded: true) ?? "") : spelled, relativeTo: base)
        else {
            return .failure(RedirectError(.badLocation, "has an invalid Location, \"\(self.shown(location))\": fix the server"))
        }
        let target = resolved.absoluteURL
        let scheme = target.scheme?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https" else {
            return .failure(
                RedirectError(
                    .unsupportedScheme, "redirects to \"\(self.shown(location))\", but only http and https are followed: fix the server"))
        }
        guard let host = target.host(), !host.isEmpty, target.port.map({ (1...65_535).contains($0) }) ?? true else {
            return .failure(
                RedirectError(
                    .badLocation, "has a Location without a host or with an invalid port, \"\(self.shown(location))\": fix the server"))
        }
        return .success(self.inheritingFragment(of: base, in: target))
    }

    /// At most 120 characters of the Location, without its query, which may contain secrets.
    static func shown(_ location: String) -> String {
        guard
            let end = location.firstIndex(where: { $0 == "?" || $0 == "#" })
                ?? location.index(location.startIndex, offsetBy: 120, limitedBy: location.endIndex)
        else { return location }
        return String(location[..<end].prefix(120)) + "…"
    }

    /// The fragment is inherited if the Location has none (RFC 9110, 10.2.2).
    private static func inheritingFragment(of base: URL, in target: URL) -> URL {
        guard let fragment = base.fragment(percentEncoded: true), target.fragment(percentEncoded: true) == nil,
            var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
        else { return target }
        parts.percentEncodedFragment = fragment
        return parts.url ?? target
    }

    /// Escapes only characters that a URL may not contain. Foundation would escape existing escapes again.
    private static func escaped(_ location: String) -> String {
        let bytes = Array(location.utf8)
        // Brackets are allowed only in the authority: an IPv6 address.
        let authority = self.authority(of: bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isFine =
                switch byte {
                case UInt8(ascii: "%"): bytes.dropFirst(index + 1).prefix(2).filter(self.isHexDigit).count == 2
                case UInt8(ascii: "["), UInt8(ascii: "]"): authority.contains(index)
                case 0...32, 127...255: false
                default: !"\"<>\\^`{|}".utf8.contains(byte)
                }
            if isFine {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                for digit in [byte >> 4, byte & 15] { result.append(digit + (digit < 10 ? 48 : 55)) }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The range of the authority: after the `//` of `//host` or `scheme://host`, up to the path.
    private static func authority(of bytes: [UInt8]) -> Range<Int> {
        let delimiters: Set<UInt8> = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        guard let slash = bytes.firstIndex(where: { delimiters.contains($0) }), bytes[slash...].starts(with: Array("//".utf8)),
            slash == 0 || bytes[slash - 1] == UInt8(ascii: ":")
        else { return 0..<0 }
        return slash + 2..<(bytes[(slash + 2)...].firstIndex { delimiters.contains($0) } ?? bytes.count)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}
