/// What makes two requests equal for replay: the method as it is, and the normalised URL.
///
/// Does not look at header fields or bodies.
public struct RequestKey: Sendable, Hashable, CustomStringConvertible {
    /// The method, a space and the URL in its normalised spelling.
    public let bytes: [UInt8]

    public init(method: String, url: String) {
        self.bytes = Self.withBytes(method: method, url: url) { Array($0) }
    }

    public var description: String { String(decoding: self.bytes, as: UTF8.self) }

    /// Lends the key's bytes without keeping them: no allocation below a kilobyte.
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

    /// Seeded anew in each process, so that a hostile cassette cannot choose colliding keys.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
