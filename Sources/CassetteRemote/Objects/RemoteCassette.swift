/// A cassette in a store without a pointer: `s3://bucket/prefix@DIGEST`.
package struct RemoteCassette: Sendable, Hashable {
    package var address: StoreAddress
    package var digest: String

    /// Whether a path on the command line is meant as one.
    package static func isRemote(_ path: String) -> Bool {
        path.hasPrefix("s3://") || path.hasPrefix("https://") || path.hasPrefix("http://")
    }

    package init(_ text: String) throws(StoreError) {
        let bytes = text.utf8
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")), ObjectName.isDigest(String(text[bytes.index(after: at)...])) else {
            throw StoreError(
                .settings,
                "\"\(text.prefix(200))\" does not name a cassette: write s3://BUCKET/PREFIX@DIGEST, with the 64 hex digits of a pointer.")
        }
        self.digest = String(text[bytes.index(after: at)...])
        self.address = try StoreAddress(String(text[..<at]))
    }
}
