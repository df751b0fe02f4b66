internal import Platform

/// Which hosts something is meant for: `example.com`, `*.example.com`, `192.0.2.1`, `[::1]:8443`, `*`.
///
/// Compares what a client asked for; never looks a name up.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Host: Sendable, Hashable {
        case any
        case name(String)
        /// Any depth below the name, and not the name itself.
        case below(String)
        /// 4 or 16 octets.
        case address([UInt8])
    }

    private let host: Host
    /// Nil stands for every port.
    public let port: Int?
    /// The pattern as it was given.
    public let description: String

    /// Letters beyond ASCII are turned into A-labels (RFC 5890), upper case into lower.
    public init(_ text: String) throws(HostPatternError) {
        let (host, port) = try Self.split(text)
        self.host = try Self.host(host, in: text)
        self.port = port
        self.description = text
    }

    /// Whether a host, as it stands in a CONNECT request or a URL, is meant.
    public func matches(host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch self.host {
        case .any: return true
        case .address(let octets): return Self.address(host) == octets
        case .name(let name): return Self.comparable(host) == name
        case .below(let name): return Self.comparable(host)?.hasSuffix(".\(name)") ?? false
        }
    }

    // MARK: Reading a pattern

    private static let example = "write a name as example.com, *.example.com, an address or *, and a port behind it as in example.com:8443"

    private static func split(_ text: String) throws(HostPatternError) -> (host: Substring, port: Int?) {
        guard !text.contains("/") else {
            throw HostPatternError("\"\(text)\" is more than a host: leave out scheme and path; \(self.example)")
        }
        let end: String.Index
        if text.hasPrefix("["), let bracket = text.lastIndex(of: "]") {
            end = text.index(after: bracket)
        } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].contains(":") {
            // An IPv6 address without brackets; a port behind it could not be told from its last group.
            return (text[...], nil)
        } else {
            end = text.firstIndex(of: ":") ?? text.endIndex
        }
        guard end < text.endIndex else { return (text[...], nil) }
        let digits = text[end...].dropFirst().utf8
        guard text[end] == ":", digits.allSatisfy({ (48...57).contains($0) }), let port = Int(text[end...].dropFirst()),
            (1...65_535).contains(port)
        else { throw HostPatternError("the host pattern \"\(text)\" has no port from 1 to 65535 behind its host; \(self.example)") }
        return (text[..<end], port)
    }

    private static func host(_ host: Substring, in text: String) throws(HostPatternError) -> Host {
        if host == "*" { return .any }
        if let octets = self.address(String(host)) { return .address(octets) }
        guard !host.contains(where: { ":[]".contains($0) }) else {
            throw HostPatternError("\"\(host)\" in the host pattern \"\(text)\" is no IPv6 address; \(self.example)")
        }
        do {
            guard host.hasPrefix("*.") else { return .name(try DomainName.ascii(host)) }
            return .below(try DomainName.ascii(host.dropFirst(2)))
        } catch {
            throw HostPatternError("the host pattern \"\(text)\" does not fit: \(error.reason); \(self.example)")
        }
    }

    // MARK: Comparing

    /// A name in lower case without its last dot; nil for what is no name.
    private static func comparable(_ host: String) -> String? {
        self.address(host) == nil ? try? DomainName.ascii(host[...]) : nil
    }

    /// The octets of an address, with or without brackets; an IPv4 address in an IPv6 one (RFC 4291, 2.5.5.2) is that IPv4 address.
    package static func address(_ host: String) -> [UInt8]? {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let text = isBracketed ? String(host.dropFirst().dropLast()) : host
        guard text.utf8.count < 46 else { return nil }
        var four = in_addr()
        if !isBracketed, inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let octets = withUnsafeBytes(of: &six) { Array($0) }
        let isMapped = octets[..<10].allSatisfy { $0 == 0 } && octets[10] == 0xFF && octets[11] == 0xFF
        return isMapped ? Array(octets[12...]) : octets
    }
}

/// A text that names no host and no hosts.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with which text, and what to write instead.
    public var message: String

    public init(_ message: String) { self.message = message }

    public var description: String { self.message }
}

/// Turns a host's name into what stands in a certificate and on the wire: lower-case ASCII, with A-labels (RFC 5891, 4).
///
/// Knows the mapping of upper case and of letters with separate accents, and refuses labels that would need more
/// (full-width letters, ligatures, symbols): people can write those as A-labels.
package enum DomainName {
    package struct Problem: Error, Hashable {
        /// Names the label.
        package var reason: String
    }

    /// Leaves out a dot at the end.
    package static func ascii(_ name: Substring) throws(Problem) -> String {
        var labels: [String] = []
        let name = name.hasSuffix(".") ? name.dropLast() : name
        guard !name.isEmpty else { throw Problem(reason: "the name is empty") }
        for label in name.split(separator: ".", omittingEmptySubsequences: false) { labels.append(try self.label(label)) }
        if let last = labels.last, last.utf8.allSatisfy({ (48...57).contains($0) }) {
            throw Problem(reason: "a name that ends in the number \"\(last)\" is no address either")
        }
        let text = labels.joined(separator: ".")
        // RFC 1035, 2.3.4: 255 octets on the wire, of which the name's first length and its end take two.
        guard text.utf8.count <= 253 else { throw Problem(reason: "the name is longer than 253 octets") }
        return text
    }

    private static func label(_ label: Substring) throws(Problem) -> String {
        guard !label.isEmpty else { throw Problem(reason: "a part between two dots is empty") }
        let lower = label.lowercased()
        let text = lower.utf8.allSatisfy { $0 < 0x80 } ? lower : "xn--" + Punycode.encode(try self.mapped(lower))
        // Underscores are in no host's name by RFC 1123, and in many hosts' names.
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95 }) else {
            throw Problem(reason: "\"\(label)\" has characters that no name has")
        }
        guard text.utf8.count <= 63 else { throw Problem(reason: "\"\(label)\" takes more than 63 octets") }
        return text
    }

    /// The scalars of a U-label in lower case and composed.
    private static func mapped(_ label: String) throws(Problem) -> [Unicode.Scalar] {
        var mapped: [Unicode.Scalar] = []
        for character in label { mapped += self.composed(character) }
        for scalar in mapped where !scalar.isASCII {
            guard self.isAllowed(scalar) else {
                throw Problem(
                    reason: "\"\(label)\" has a character that does not stand in names as it is; write the part as its A-label, xn--…")
            }
        }
        return mapped
    }

    /// A short form of RFC 5892: letters, marks and digits that compatibility mapping leaves alone, and its two exceptions ß and ς.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "ß" || scalar == "ς" { return true }
        guard !scalar.properties.changesWhenNFKCCaseFolded else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: return true
        default: return false
        }
    }

    // MARK: Composition

    /// Where precomposed letters are: Latin, Greek, Cyrillic, Kana.
    private static let precomposed: [ClosedRange<UInt32>] = [0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF, 0x3040...0x30FF]

    /// A character with its accents, as few scalars as Unicode's composition makes of it.
    private static func composed(_ character: Character) -> [Unicode.Scalar] {
        var composed: [Unicode.Scalar] = []
        for scalar in character.unicodeScalars {
            if let last = composed.last, let one = self.one(last, scalar) {
                composed[composed.count - 1] = one
            } else {
                composed.append(scalar)
            }
        }
        return composed
    }

    /// The scalar that equals both together: equality of characters is canonical equivalence.
    private static func one(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        let text = String(String.UnicodeScalarView([first, second]))
        let ranges: [ClosedRange<UInt32>] = (0x1100...0x11FF).contains(second.value) ? [0xAC00...0xD7A3] : self.precomposed
        for value in ranges.joined() {
            guard let scalar = Unicode.Scalar(value), String(scalar) == text else { continue }
            return scalar
        }
        return nil
    }
}

/// Writes Unicode in letters, digits and hyphens (RFC 3492).
enum Punycode {
    // RFC 3492, 5.
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26
    private static let skew: UInt32 = 38
    private static let damp: UInt32 = 700

    /// Without the `xn--` in front (RFC 3492, 6.3). A label has too few characters to overflow 32 bits.
    static func encode(_ scalars: [Unicode.Scalar]) -> String {
        let limit = 256
        let input = scalars.prefix(limit).map(\.value)
        var output = input.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var handled = basicCount
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < UInt32(input.count), let least = input.filter({ $0 >= next }).min() {
            delta += (least - next) * (handled + 1)
            next = least
            for value in input {
                if value < next { delta += 1 }
                guard value == next else { continue }
                self.append(delta, bias, &output)
                bias = self.adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: UInt32, _ bias: UInt32, _ output: inout [UInt8]) {
        var rest = delta
        var position = self.base
        while true {
            let threshold = position <= bias ? self.tMin : min(position - bias, self.tMax)
            guard rest >= threshold else { break }
            output.append(self.digit(threshold + (rest - threshold) % (self.base - threshold)))
            rest = (rest - threshold) / (self.base - threshold)
            position += self.base
        }
        output.append(self.digit(rest))
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / self.damp : delta / 2
        rest += rest / count
        var steps: UInt32 = 0
        while rest > (self.base - self.tMin) * self.tMax / 2 {
            rest /= self.base - self.tMin
            steps += self.base
        }
        return steps + (self.base - self.tMin + 1) * rest / (rest + self.skew)
    }

    private static func digit(_ value: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value < 26 ? 97 + value : 22 + value) }
}
