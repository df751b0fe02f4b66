internal import TapeBytes

/// Signs requests with AWS Signature Version 4, in header fields.
///
/// Takes the path and the query in their canonical form, and the caller sends exactly these bytes: nothing is encoded twice.
struct RequestSigner {
    var accessKey: String
    var secretKey: String
    var region: String
    var service = "s3"

    /// The header fields to add to a request: the time, and the signature.
    ///
    /// - Parameters:
    ///   - path: as `encodedPath` returns it.
    ///   - query: as `canonicalQuery` returns it.
    ///   - fields: the fields to sign, with `host`; names in lower case.
    ///   - payload: the SHA-256 of the body in hex.
    func fields(
        method: String, path: String, query: String, signing fields: [(name: String, value: String)], payload: String, at time: Timestamp
    ) -> [(name: String, value: String)] {
        let stamp = Self.stamp(time)
        let day = String(stamp.prefix(8))
        let all = (fields + [("x-amz-date", stamp)]).sorted { $0.name < $1.name }
        let names = all.map(\.name).joined(separator: ";")
        let lines = all.map { "\($0.name):\(Self.trimmed($0.value))\n" }.joined()
        let request = "\(method)\n\(path)\n\(query)\n\(lines)\n\(names)\n\(payload)"
        let scope = "\(day)/\(self.region)/\(self.service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(MemoryDigest.hex(Array(request.utf8)))"
        var key = MemoryDigest.hmac(day, key: Array("AWS4\(self.secretKey)".utf8))
        for part in [self.region, self.service, "aws4_request"] { key = MemoryDigest.hmac(part, key: key) }
        let signature = Hex.encode(MemoryDigest.hmac(text, key: key))
        return [
            ("x-amz-date", stamp),
            ("authorization", "AWS4-HMAC-SHA256 Credential=\(self.accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"),
        ]
    }

    /// `20130524T000000Z`
    static func stamp(_ time: Timestamp) -> String {
        let text = time.formatted.prefix(19).filter { $0 != "-" && $0 != ":" }
        return "\(text)Z"
    }

    /// Without spaces at the ends, and with one space where there are several.
    private static func trimmed(_ value: String) -> String { value.split(separator: " ").joined(separator: " ") }

    /// Encodes everything but `A-Z a-z 0-9 - . _ ~` and slashes, in upper-case hex.
    static func encodedPath(_ path: String) -> String { self.encoded(path, keepsSlash: true) }

    /// Sorted by name, with every value encoded, slashes too.
    static func canonicalQuery(_ items: [(name: String, value: String)]) -> String {
        items.map { (self.encoded($0.name, keepsSlash: false), self.encoded($0.value, keepsSlash: false)) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func encoded(_ text: String, keepsSlash: Bool) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "/") where keepsSlash: result += "/"
            default: result += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return result
    }
}
