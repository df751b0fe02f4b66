public import CassetteModel

/// How the messages of a request in reverse form read on either side: the origin meets its own names, the client the proxy's.
///
/// Changes what leads somewhere, `Host`, `Origin`, `Referer`, `Location` and `Set-Cookie`, and nothing else: no bodies, no links in them.
public struct ReverseMapping: Sendable, Hashable {
    public let target: ReverseTarget
    /// What the client calls the proxy: `127.0.0.1:7070`.
    public let authority: String

    public init(target: ReverseTarget, authority: String) {
        self.target = target
        self.authority = authority
    }

    /// A request's fields as the origin would get them from a client of its own.
    public func request(_ fields: HeaderFields) -> HeaderFields {
        var mapped = HeaderFields()
        for index in 0..<fields.count {
            if fields.isNamed("host", at: index) {
                mapped.append(name: fields.name(at: index), value: self.target.origin.authority)
            } else if fields.isNamed("origin", at: index) {
                let origin = self.target.origin
                mapped.append(name: fields.name(at: index), value: "\(origin.scheme.rawValue)://\(origin.authority)")
            } else if fields.isNamed("referer", at: index), let url = self.unwrapped(fields.value(at: index)) {
                mapped.append(name: fields.name(at: index), value: url)
            } else {
                mapped.append(line: fields.line(at: index))
            }
        }
        return mapped
    }

    /// The URL that a URL of ours stands for; nil for any other.
    private func unwrapped(_ url: String) -> String? {
        let own = "http://\(self.authority)"
        guard url.lowercased().hasPrefix(own.lowercased()) else { return nil }
        return (try? ReverseTarget(String(url.dropFirst(own.count)), method: "GET"))??.url
    }

    /// A response's head with redirects and cookies that lead the client through the proxy again.
    public func response(_ head: ResponseHead) -> ResponseHead {
        guard head.fields.contains("location") || head.fields.contains("set-cookie") else { return head }
        var mapped = HeaderFields()
        for index in 0..<head.fields.count {
            let value = head.fields.valueBytes(at: index)
            if head.fields.isNamed("location", at: index), let location = self.location(value) {
                mapped.append(line: Array(head.fields.nameBytes(at: index)) + Array(": ".utf8) + location)
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

    /// A whole response in wire form, its head in the place of the one it has; the same where nothing in it leads anywhere.
    public func response(wire: [UInt8], clientVersion: HTTPVersion) -> [UInt8] {
        var parser = HeadParser()
        let parsed = try? wire.withUnsafeBufferPointer { try parser.parseResponse(UnsafeRawBufferPointer($0)) }
        guard let parsed else { return wire }
        let head = self.response(parsed.head)
        guard head != parsed.head else { return wire }
        return HopByHop.forwardedResponse(head, keepsClient: true, clientVersion: clientVersion) + wire[parsed.consumed...]
    }

    /// Whole, since not every client resolves a path (RFC 9110, 10.2.2); nil where it leads past HTTP, or nowhere.
    private func location(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        // Clients do not follow these: made whole, they would be sent round in circles.
        guard !value.isEmpty else { return nil }
        let base = Array("http://\(self.authority)\(self.target.base)".utf8)
        let origin = self.target.origin
        let path = self.target.originForm == "*" ? "/" : self.target.originForm
        let reference = URLReference(scheme: origin.scheme.rawValue, authority: origin.authority, target: path)
        if let url = reference.resolved(value) { return base + url }
        // "https:/host" is no URL, but many clients make one of it, and would go past the proxy; what it stands for is told when they come.
        return Self.isHTTP(value) ? base + value : nil
    }

    private static func isHTTP(_ reference: ArraySlice<UInt8>) -> Bool {
        let start = reference.prefix(6).map(Octets.lower)
        return start.starts(with: "http:".utf8) || start.starts(with: "https:".utf8)
    }
}
