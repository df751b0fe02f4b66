internal import Platform

/// The key by which requests are considered equal for replay: the method as it is, and the normalised URL.
///
/// Ignores header fields and bodies.
public struct RequestKey: Sendable, Hashable, CustomStringConvertible {
    /// The method, a space and the normalised URL.
    public let bytes: [UInt8]

    public init(method: String, url: String) {
        self.bytes = Self.withBytes(method: method, url: url) { Array($0) }
    }

    public var description: String { String(decoding: self.bytes, as: UTF8.self) }

    /// Passes the key's bytes without keeping them: no allocation below a kilobyte.
    static func withBytes<Result>(
        method: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let prefix = method.count + 1
        return withUnsafeTemporaryAllocation(byteCount: prefix + url.count + 1, alignment: 1) { output in
            output.copyBytes(from: method)
            output[method.count] = UInt8(ascii: " ")
            let length = URLNormalizer.write(url, to: UnsafeMutableRawBufferPointer(rebasing: output[prefix...]))
            return body(UnsafeRawBufferPointer(rebasing: output[..<(prefix + length)]))
        }
    }

    static func withBytes<Result>(method: String, url: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var method = method
        var url = url
        return method.withUTF8 { method in
            url.withUTF8 { url in
                Self.withBytes(method: UnsafeRawBufferPointer(method), url: UnsafeRawBufferPointer(url), body)
            }
        }
    }

    /// Uses a new seed in each process, so that a hostile cassette cannot contain colliding keys.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

/// Writes a URL in the spelling by which requests are compared.
///
/// Normalises only what RFC 3986, 6.2.2 and 6.2.3 call equivalent for every server: case of scheme and host, a default or empty port, an
/// empty path, hex digits of percent-encodings and encoded unreserved characters. Dot segments stay as they are, and in a query `+` is not
/// `%20` and `%2C` is not a comma, since servers distinguish them. Text that is not a URL with an authority is treated as a path.
struct URLNormalizer {
    // SAFETY: subscripts of raw buffers are unchecked in release builds. Reads stay inside 0..<url.count by the loops' own bounds. Writes
    // fit because each input byte gives at most one output byte, and only the slash of an empty path is added: the caller provides room for
    // one byte more than the URL has.
    private let url: UnsafeRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer
    private var count = 0

    /// Returns how many bytes were written. `output` must have room for `url.count + 1` bytes.
    static func write(_ url: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) -> Int {
        precondition(output.count > url.count)
        var normalizer = URLNormalizer(url: url, output: output)
        normalizer.run()
        return normalizer.count
    }

    private init(url: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) {
        self.url = url
        self.output = output
    }

    private mutating func run() {
        var position = 0
        if let schemeEnd = self.schemeEnd() {
            for index in 0..<schemeEnd { self.put(Self.lower(self.url[index])) }
            self.appendVerbatim(schemeEnd..<schemeEnd + 3)
            position = self.appendAuthority(from: schemeEnd + 3, schemeLength: schemeEnd)
            if position == self.url.count || self.url[position] != UInt8(ascii: "/") { self.put(UInt8(ascii: "/")) }
        }
        var pathEnd = position
        while pathEnd < self.url.count, self.url[pathEnd] != UInt8(ascii: "?"), self.url[pathEnd] != UInt8(ascii: "#") {
            pathEnd += 1
        }
        self.appendDecoding(position..<pathEnd, lowercased: false)
        position = pathEnd
        let query = position..<self.url.count
        self.appendDecoding(position..<(self.offset(of: UInt8(ascii: "#"), in: query) ?? query.upperBound), lowercased: false)
    }

    /// The offset of `://` after a valid scheme (RFC 3986, 3.1).
    private func schemeEnd() -> Int? {
        var end = 0
        while end < self.url.count {
            switch self.url[end] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                end += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                guard end > 0 else { return nil }
                end += 1
            case UInt8(ascii: ":"):
                guard end > 0, self.url.count - end >= 3, self.url[end + 1] == UInt8(ascii: "/"),
                    self.url[end + 2] == UInt8(ascii: "/")
                else { return nil }
                return end
            default:
                return nil
            }
        }
        return nil
    }

    /// Returns the offset after the authority.
    private mutating func appendAuthority(from start: Int, schemeLength: Int) -> Int {
        var end = start
        var hostStart = start
        scan: while end < self.url.count {
            switch self.url[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scan
            case UInt8(ascii: "@"): hostStart = end + 1
            default: break
            }
            end += 1
        }
        self.appendDecoding(start..<hostStart, lowercased: false)
        var hostEnd = end
        while hostEnd > hostStart, Self.isDigit(self.url[hostEnd - 1]) { hostEnd -= 1 }
        guard hostEnd > hostStart, self.url[hostEnd - 1] == UInt8(ascii: ":") else {
            self.appendDecoding(hostStart..<end, lowercased: true)
            return end
        }
        let port = hostEnd..<end
        self.appendDecoding(hostStart..<hostEnd - 1, lowercased: true)
        if !port.isEmpty, !self.isDefault(port: port, schemeLength: schemeLength) {
            self.put(UInt8(ascii: ":"))
            self.appendVerbatim(port)
        }
        return end
    }

    private func isDefault(port: Range<Int>, schemeLength: Int) -> Bool {
        switch port.count {
        case 2 where self.holds("80", at: port.lowerBound):
            self.isScheme("http", schemeLength) || self.isScheme("ws", schemeLength)
        case 3 where self.holds("443", at: port.lowerBound):
            self.isScheme("https", schemeLength) || self.isScheme("wss", schemeLength)
        default:
            false
        }
    }

    private func isScheme(_ scheme: StaticString, _ length: Int) -> Bool {
        scheme.utf8CodeUnitCount == length && self.holds(scheme, at: 0)
    }

    /// Compares ASCII case-insensitively; the caller has checked the bounds.
    private func holds(_ text: StaticString, at offset: Int) -> Bool {
        for index in 0..<text.utf8CodeUnitCount where Self.lower(self.url[offset + index]) != text.utf8Start[index] {
            return false
        }
        return true
    }

    private mutating func appendVerbatim(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        UnsafeMutableRawBufferPointer(rebasing: self.output[self.count..<self.count + range.count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: self.url[range]))
        self.count += range.count
    }

    private func offset(of byte: UInt8, in range: Range<Int>) -> Int? {
        guard !range.isEmpty, let base = self.url.baseAddress,
            let found = memchr(base + range.lowerBound, Int32(byte), range.count)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    private mutating func appendDecoding(_ range: Range<Int>, lowercased: Bool) {
        if !lowercased, self.offset(of: UInt8(ascii: "%"), in: range) == nil { return self.appendVerbatim(range) }
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = self.url[index]
            if byte == UInt8(ascii: "%"), range.upperBound - index > 2, let high = Self.hexValue(self.url[index + 1]),
                let low = Self.hexValue(self.url[index + 2])
            {
                self.appendByte(high << 4 | low, lowercased: lowercased)
                index += 3
            } else {
                self.put(lowercased ? Self.lower(byte) : byte)
                index += 1
            }
        }
    }

    private mutating func appendByte(_ byte: UInt8, lowercased: Bool) {
        if Self.isUnreserved(byte) {
            self.put(lowercased ? Self.lower(byte) : byte)
        } else {
            self.put(UInt8(ascii: "%"))
            self.put(Self.hexDigit(byte >> 4))
            self.put(Self.hexDigit(byte & 15))
        }
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        self.output[self.count] = byte
        self.count += 1
    }

    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }

    @inline(__always)
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 55
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 87
        default: nil
        }
    }

    /// RFC 3986, 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
