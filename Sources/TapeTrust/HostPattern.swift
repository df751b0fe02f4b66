internal import Platform
public import TapeBytes

/// A set of hosts: `example.com`, `*.example.com`, `192.0.2.1`, `[::1]:8443`, `*`.
///
/// Compares the host that a client requested; never resolves a name.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Host: Sendable, Hashable {
        case any
        case name(String)
        /// Any depth below the name, but not the name itself.
        case below(String)
        /// 4 or 16 bytes.
        case address([UInt8])
    }

    private let host: Host
    /// Nil means every port.
    public let port: Int?
    /// The pattern as it was given.
    public let description: String

    /// Converts letters beyond ASCII to A-labels (RFC 5890), and upper case to lower case.
    public init(_ text: String) throws(SettingSyntaxError) {
        let (host, port) = try Self.split(text)
        self.host = try Self.host(host, in: text)
        self.port = port
        self.description = text
    }

    /// Whether the pattern includes a host, given as in a CONNECT request or a URL.
    public func matches(host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch self.host {
        case .any: return true
        case .address(let bytes): return Self.address(host) == bytes
        case .name(let name): return Self.comparable(host) == name
        case .below(let name): return Self.comparable(host)?.hasSuffix(".\(name)") ?? false
        }
    }

    // MARK: Reading a pattern

    private static let example =
        "write a name such as example.com, *.example.com, an address or *, with an optional port as in example.com:8443"

    private static func split(_ text: String) throws(SettingSyntaxError) -> (host: Substring, port: Int?) {
        guard !text.contains("/") else {
            throw SettingSyntaxError("\"\(text)\" is more than a host: leave out scheme and path; \(self.example)")
        }
        let end: String.Index
        if text.hasPrefix("["), let bracket = text.lastIndex(of: "]") {
            end = text.index(after: bracket)
        } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].contains(":") {
            // An IPv6 address without brackets. A port after it could not be distinguished from its last group.
            return (text[...], nil)
        } else {
            end = text.firstIndex(of: ":") ?? text.endIndex
        }
        guard end < text.endIndex else { return (text[...], nil) }
        let digits = text[end...].dropFirst().utf8
        guard text[end] == ":", digits.allSatisfy({ (48...57).contains($0) }), let port = Int(text[end...].dropFirst()),
            (1...65_535).contains(port)
        else { throw SettingSyntaxError("the host pattern \"\(text)\" has no port from 1 to 65535 after its host; \(self.example)") }
        return (text[..<end], port)
    }

    private static func host(_ host: Substring, in text: String) throws(SettingSyntaxError) -> Host {
        if host == "*" { return .any }
        if let bytes = self.address(String(host)) { return .address(bytes) }
        guard !host.contains(where: { ":[]".contains($0) }) else {
            throw SettingSyntaxError("\"\(host)\" in the host pattern \"\(text)\" is not an IPv6 address; \(self.example)")
        }
        do {
            guard host.hasPrefix("*.") else { return .name(try DomainName.ascii(host)) }
            return .below(try DomainName.ascii(host.dropFirst(2)))
        } catch {
            throw SettingSyntaxError("the host pattern \"\(text)\" is not valid: \(error.reason); \(self.example)")
        }
    }

    // MARK: Comparing

    /// A name in lower case without a final dot; nil if it is not a name.
    private static func comparable(_ host: String) -> String? {
        self.address(host) == nil ? try? DomainName.ascii(host[...]) : nil
    }

    /// The bytes of an address, with or without brackets. An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) becomes the IPv4 address.
    package static func address(_ host: String) -> [UInt8]? {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let text = isBracketed ? String(host.dropFirst().dropLast()) : host
        guard text.utf8.count < 46 else { return nil }
        var four = in_addr()
        if !isBracketed, inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes[12...]) : bytes
    }
}
