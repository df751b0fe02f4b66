public import CassetteModel
internal import TapeBytes

/// Maps the messages of a request in reverse form, so that the origin sees its own names and the client sees the proxy's.
///
/// Changes only cookies and the fields that contain URLs. Bodies, and the links in them, stay unchanged.
public struct ReverseMapping: Sendable, Hashable {
    public let target: ReverseTarget
    /// The proxy's authority as the client names it: `127.0.0.1:7070`.
    public let authority: String

    public init(target: ReverseTarget, authority: String) {
        self.target = target
        self.authority = authority
    }

    public var origin: Origin { self.target.origin }

    /// A request's fields as the origin would receive them from a direct client.
    public func request(_ fields: HeaderFields) -> HeaderFields {
        var mapped = HeaderFields()
        for index in 0..<fields.count {
            if fields.isNamed("host", at: index) {
                mapped.append(name: fields.name(at: index), value: self.target.origin.authority)
            } else if fields.isNamed("origin", at: index) {
                let origin = self.target.origin
                mapped.append(name: fields.name(at: index), value: "\(origin.scheme.rawValue)://\(origin.authority)")
            } else if Self.requestURLs.contains(where: { fields.isNamed($0, at: index) }) || Self.isLocation(fields, index),
                let url = self.unwrapped(fields.valueBytes(at: index))
            {
                mapped.append(name: fields.name(at: index), value: url)
            } else if fields.isNamed("link", at: index) || fields.isNamed("if", at: index) {
                let value = Self.replacingBracketed(fields.valueBytes(at: index)) { reference in
                    self.unwrapped(reference).map { Array($0.utf8) }
                }
                mapped.append(line: Array(fields.nameBytes(at: index)) + Array(": ".utf8) + value)
            } else {
                mapped.append(line: fields.line(at: index))
            }
        }
        return mapped
    }

    /// Request fields that contain one URL, as well as those that answers have: the page that sent the request, the target of a copy or move
    /// (RFC 4918, 10.3), and the source of a copy in Azure's storage.
    private static let requestURLs: [StaticString] = ["referer", "destination", "x-ms-copy-source"]

    /// Fields that contain one reference to where a client goes next: RFC 9110, 8.7 and 10.2.2, the state of a long operation in Azure, the
    /// target of an upload to Google, and the map of a script.
    private static let locations: [StaticString] = [
        "location", "content-location", "operation-location", "azure-asyncoperation", "x-goog-upload-url", "x-goog-upload-control-url",
        "sourcemap", "x-sourcemap",
    ]

    private static func isLocation(_ fields: HeaderFields, _ index: Int) -> Bool {
        self.locations.contains { fields.isNamed($0, at: index) } || self.isOtherLocation(fields, index)
    }

    /// Whether the name ends in `-Location`, as in fields that services define for themselves.
    private static func isOtherLocation(_ fields: HeaderFields, _ index: Int) -> Bool {
        fields.nameBytes(at: index).suffix(9).map(ASCII.lower).elementsEqual("-location".utf8)
    }

    /// The URL inside one of the proxy's URLs; nil for any other URL. Bytes that a URL cannot contain are percent-encoded.
    private func unwrapped(_ reference: ArraySlice<UInt8>) -> String? {
        let url = reference.reduce(into: "") { url, byte in
            if byte <= ASCII.space || byte >= 127 {
                url += "%\(Hex.encode([byte]).uppercased())"
            } else {
                url.unicodeScalars.append(UnicodeScalar(byte))
            }
        }
        let own = "http://\(self.authority)"
        let isPath = url.hasPrefix("/")
        guard isPath || url.lowercased().hasPrefix(own.lowercased()) else { return nil }
        return (try? ReverseTarget(isPath ? url : String(url.dropFirst(own.count)), method: "GET"))??.url
    }

    /// Replaces references in angle brackets outside quoted strings, as in `Link` (RFC 8288, 3) and `If` (RFC 4918, 10.4).
    ///
    /// - Parameter replacement: returns nil to keep a reference.
    private static func replacingBracketed(_ value: ArraySlice<UInt8>, _ replacement: (ArraySlice<UInt8>) -> [UInt8]?) -> [UInt8] {
        var out: [UInt8] = []
        var index = value.startIndex
        var isQuoted = false
        while index < value.endIndex {
            let byte = value[index]
            if isQuoted, byte == UInt8(ascii: "\\"), index + 1 < value.endIndex {
                out += value[index...index + 1]
                index += 2
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted, byte == UInt8(ascii: "<"), let close = value[index...].firstIndex(of: UInt8(ascii: ">")) else {
                out.append(byte)
                index += 1
                continue
            }
            let reference = value[(index + 1)..<close]
            out += [UInt8(ascii: "<")] + (replacement(reference) ?? Array(reference)) + [UInt8(ascii: ">")]
            index = close + 1
        }
        return out
    }

    /// `5; url=/next` with its URL mapped; nil if it has none.
    private func refresh(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        guard let separator = value.firstIndex(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }) else { return nil }
        var start = value[(separator + 1)...].drop { $0 == ASCII.space || $0 == ASCII.tab }.startIndex
        if value[start...].prefix(3).map(ASCII.lower).elementsEqual("url".utf8) {
            let rest = value[(start + 3)...].drop { $0 == ASCII.space || $0 == ASCII.tab }
            if rest.first == UInt8(ascii: "=") { start = rest.dropFirst().drop { $0 == ASCII.space || $0 == ASCII.tab }.startIndex }
        }
        var end = value.endIndex
        if let quote = value[start...].first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            start += 1
            end = value[start...].firstIndex(of: quote) ?? end
        }
        guard start < end, let url = self.location(value[start..<end]) else { return nil }
        return Array(value[..<start]) + url + value[end...]
    }

    private static let mapped: [StaticString] = ["link", "refresh", "set-cookie"]

    private static func isMapped(_ fields: HeaderFields) -> Bool {
        self.mapped.contains(where: fields.contains) || (0..<fields.count).contains { self.isLocation(fields, $0) }
    }

    /// A response head whose redirects and cookies lead the client back through the proxy.
    public func response(_ head: ResponseHead) -> ResponseHead {
        guard Self.isMapped(head.fields) else { return head }
        var mapped = HeaderFields()
        for index in 0..<head.fields.count {
            let value = head.fields.valueBytes(at: index)
            let isLocation = Self.locations.contains { head.fields.isNamed($0, at: index) }
            // The meaning of another field is unknown, so only what can be nothing but a URL of the web is changed in it.
            let isOther = !isLocation && Self.isOtherLocation(head.fields, index) && Self.isWebURL(value)
            if isLocation || isOther, let location = self.location(value) {
                mapped.append(line: Array(head.fields.nameBytes(at: index)) + Array(": ".utf8) + location)
            } else if head.fields.isNamed("link", at: index) {
                let link = Self.replacingBracketed(value, self.location)
                mapped.append(line: Array(head.fields.nameBytes(at: index)) + Array(": ".utf8) + link)
            } else if head.fields.isNamed("refresh", at: index), let refresh = self.refresh(value) {
                mapped.append(line: Array(head.fields.nameBytes(at: index)) + Array(": ".utf8) + refresh)
            } else if head.fields.isNamed("set-cookie", at: index) {
                let cookie = ReverseCookie(prefix: self.target.prefix, originForm: self.target.originForm).mapped(value)
                mapped.append(line: Array(head.fields.nameBytes(at: index)) + Array(": ".utf8) + cookie)
            } else {
                mapped.append(line: head.fields.line(at: index))
            }
        }
        var result = head
        result.fields = mapped
        return result
    }

    /// A whole response in wire form with its head mapped; unchanged if there is nothing to map.
    public func response(wire: [UInt8], clientVersion: HTTPVersion) -> [UInt8] {
        var parser = HeadParser()
        let parsed = try? wire.withUnsafeBufferPointer { try parser.parseResponse(UnsafeRawBufferPointer($0)) }
        guard let parsed else { return wire }
        let head = self.response(parsed.head)
        guard head != parsed.head else { return wire }
        return HopByHop.forwardedResponse(head, keepsClient: true, clientVersion: clientVersion) + wire[parsed.consumed...]
    }

    /// The Location as an absolute URL, because not every client resolves a path (RFC 9110, 10.2.2); nil if it is empty or not HTTP.
    private func location(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        // Clients do not follow an empty Location. An absolute URL in its place would send them in circles.
        guard !value.isEmpty else { return nil }
        let base = Array("http://\(self.authority)\(self.target.base)".utf8)
        let origin = self.target.origin
        let path = self.target.originForm == "*" ? "/" : self.target.originForm
        let reference = URLReference(scheme: origin.scheme.rawValue, authority: origin.authority, target: path)
        if let url = reference.resolved(value) { return base + url }
        // "https:/host" is not a URL, but many clients turn it into one and would bypass the proxy. It is resolved when they request it.
        return Self.isHTTP(value) ? base + value : nil
    }

    private static func isWebURL(_ reference: ArraySlice<UInt8>) -> Bool {
        let start = reference.prefix(8).map(ASCII.lower)
        return start.starts(with: "http://".utf8) || start.elementsEqual("https://".utf8)
    }

    private static func isHTTP(_ reference: ArraySlice<UInt8>) -> Bool {
        let start = reference.prefix(6).map(ASCII.lower)
        return start.starts(with: "http:".utf8) || start.starts(with: "https:".utf8)
    }
}

/// Maps a `Set-Cookie` value so that a client in reverse mode sends the cookie back, and only to that origin.
///
/// To such a client, all origins are one plain-text host. It would refuse a `Domain` and withhold a `Secure` cookie, so both are omitted.
/// `Path` is prefixed with the origin's path, because only the path distinguishes origins (RFC 6265, 5.1.4).
struct ReverseCookie {
    /// `/https://host`, as the client spells it.
    let prefix: String
    /// The request's target in origin-form.
    let originForm: String

    func mapped(_ value: ArraySlice<UInt8>) -> [UInt8] {
        let pieces = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = pieces.first else { return Array(value) }
        var out = Array(pair)
        var path: [UInt8]?
        for piece in pieces.dropFirst() {
            let (name, text) = Self.attribute(piece)
            if FieldList.equals(name, "domain") || FieldList.equals(name, "secure") { continue }
            guard FieldList.equals(name, "path") else {
                out += Array(";".utf8) + piece
                continue
            }
            // The last `Path` applies (RFC 6265, 5.3).
            path = text.first == UInt8(ascii: "/") ? Array(text) : nil
        }
        return out + Array("; Path=\(self.prefix)".utf8) + (path ?? self.defaultPath)
    }

    private static func attribute(_ piece: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
        return (self.trimmed(piece[..<equals]), self.trimmed(piece[equals...].dropFirst()))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == ASCII.space || first == ASCII.tab { bytes.removeFirst() }
        while let last = bytes.last, last == ASCII.space || last == ASCII.tab { bytes.removeLast() }
        return bytes
    }

    /// RFC 6265, 5.1.4.
    private var defaultPath: [UInt8] {
        let path = self.originForm.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return [UInt8(ascii: "/")] }
        return Array(path[..<slash])
    }
}

/// Resolves a reference to an absolute URL without dot segments (RFC 3986, 5.2).
///
/// Works on bytes and changes no other part, so an invalid reference stays invalid.
struct URLReference {
    let scheme: String
    let authority: String
    /// In origin-form.
    let target: String

    /// - Returns: nil if the reference has a scheme other than http or https.
    func resolved(_ reference: ArraySlice<UInt8>) -> [UInt8]? {
        let hash = reference.firstIndex(of: UInt8(ascii: "#")) ?? reference.endIndex
        let fragment = reference[hash...]
        let body = reference[..<hash]
        if let colon = Self.schemeEnd(body) {
            let name = body[..<colon].map(ASCII.lower)
            let rest = body[(colon + 1)...]
            guard name.elementsEqual("http".utf8) || name.elementsEqual("https".utf8), rest.starts(with: [47, 47]) else { return nil }
            return name + Array(":".utf8) + Self.withoutDots(authorityAndPath: rest) + fragment
        }
        if body.starts(with: [47, 47]) { return Array("\(self.scheme):".utf8) + Self.withoutDots(authorityAndPath: body) + fragment }
        let (path, query) = Self.split(body)
        let (basePath, baseQuery) = Self.split(Array(self.target.utf8)[...])
        let own = Array("\(self.scheme)://\(self.authority)".utf8)
        if path.isEmpty { return own + Self.withoutDots(basePath) + (query.isEmpty ? baseQuery : query) + fragment }
        if path.first == 47 { return own + Self.withoutDots(path) + query + fragment }
        let folder = basePath[..<(basePath.lastIndex(of: 47).map { $0 + 1 } ?? basePath.startIndex)]
        return own + Self.withoutDots((folder.isEmpty ? [47] : folder) + path) + query + fragment
    }

    /// The index of the colon after a scheme; nil for a reference without a scheme (RFC 3986, 3.1).
    private static func schemeEnd(_ reference: ArraySlice<UInt8>) -> Int? {
        guard let first = reference.first, (97...122).contains(ASCII.lower(first)) else { return nil }
        let end = reference.firstIndex { byte in
            let isLetter = (97...122).contains(ASCII.lower(byte))
            return !isLetter && !ASCII.isDigit(byte) && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "-") && byte != UInt8(ascii: ".")
        }
        guard let end, reference[end] == UInt8(ascii: ":") else { return nil }
        return end
    }

    /// The path, and the query including its question mark.
    private static func split(_ bytes: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>) {
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        return (bytes[..<mark], bytes[mark...])
    }

    /// - Parameter bytes: two slashes, an authority, and possibly a path and a query.
    private static func withoutDots(authorityAndPath bytes: ArraySlice<UInt8>) -> [UInt8] {
        let (whole, query) = self.split(bytes)
        let authorityEnd = whole.dropFirst(2).firstIndex(of: 47) ?? whole.endIndex
        return Array(whole[..<authorityEnd]) + self.withoutDots(whole[authorityEnd...]) + query
    }

    /// RFC 3986, 5.2.4. The result always begins with a slash.
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst(path.first == 47 ? 1 : 0).split(separator: 47, omittingEmptySubsequences: false)
        for (number, segment) in segments.enumerated() {
            let isLast = number == segments.count - 1
            switch self.dots(segment) {
            case 1:
                if isLast { kept.append([]) }
            case 2:
                _ = kept.popLast()
                if isLast { kept.append([]) }
            default:
                kept.append(segment)
            }
        }
        return kept.reduce(into: []) { $0 += [47] + $1 } + (kept.isEmpty ? [47] : [])
    }

    /// 1 for `.` and 2 for `..`, also percent-encoded, as in the URL Standard; 0 for anything else.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
        var count = 0
        var rest = segment
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.prefix(3).map(ASCII.lower).elementsEqual("%2e".utf8) {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
            if count > 2 { return 0 }
        }
        return count
    }
}
