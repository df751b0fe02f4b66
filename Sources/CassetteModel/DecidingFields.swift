/// The request header fields that are compared in every replay, even if only one exchange was recorded.
///
/// Like the method and the URL, they determine what is requested: which operation, which part, or under which conditions.
public enum DecidingFields {
    /// Fields that name the operation or its target: overrides of the method, the actions of SOAP 1.1 (6.1.1) and AWS JSON, the depth and
    /// destination of WebDAV (RFC 4918, 10.2 and 10.3), the source of a copy, the offset of a piece in an upload, the arguments of Dropbox,
    /// the request that a preflight asks about (Fetch, 3.3.4), and conditions of Amazon S3, Azure, Google Cloud Storage and CalDAV
    /// (RFC 6638, 8.3).
    public static let operations: [StaticString] = [
        "x-amz-target", "soapaction", "x-http-method-override", "x-http-method", "x-method-override", "x-restli-method", "depth",
        "destination", "x-amz-copy-source", "x-ms-copy-source", "x-goog-copy-source", "upload-offset", "content-range", "dropbox-api-arg",
        "x-goog-upload-command", "x-goog-upload-offset", "x-apollo-operation-id", "x-apollo-operation-name", "x-graphql-operation-name",
        "if-schedule-tag-match", "if-state-match", "if-state-none-match", "x-if-match", "x-if-none-match", "x-if-modified-since",
        "x-if-unmodified-since", "x-goog-if-generation-match", "x-goog-if-metageneration-match", "x-goog-copy-source-if-generation-match",
        "x-goog-copy-source-if-metageneration-match", "x-goog-copy-source-if-match", "x-goog-copy-source-if-none-match",
        "x-ms-if-tags", "x-ms-source-if-match", "x-ms-source-if-none-match", "x-ms-source-if-modified-since",
        "x-ms-source-if-unmodified-since", "x-ms-source-if-tags", "x-ms-blob-condition-maxsize", "x-ms-blob-condition-appendpos",
        "x-ms-if-sequence-number-le", "x-ms-if-sequence-number-lt", "x-ms-if-sequence-number-eq", "x-amz-if-match-last-modified-time",
        "x-amz-if-match-initiated-time", "x-amz-if-match-size", "x-amz-copy-source-if-match", "x-amz-copy-source-if-none-match",
        "x-amz-copy-source-if-modified-since", "x-amz-copy-source-if-unmodified-since", "access-control-request-method",
        "access-control-request-headers",
    ]

    /// Preconditions and ranges (RFC 9110, 13.1 and 14.2), which decide between the statuses 200, 206, 304, 412 and 416.
    public static let conditions: [StaticString] = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range", "x-ms-range",
    ]

    /// Whether a header section contains one of them.
    public static func areIn(_ headers: HeaderFields) -> Bool {
        headers.withBytes { bytes in
            (0..<headers.count).contains { self.isOne(UnsafeRawBufferPointer(rebasing: bytes[headers.lineRange(at: $0)])) }
        }
    }

    /// Whether a field line (`Name: value`) has one of these names.
    public static func isOne(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first, first >= 65 else { return false }
        return self.byFirstLetter[Int(first & 31)].contains { self.isNamed($0, line) }
    }

    /// Indexed by the lower five bits of the first letter, which are the same in both cases.
    private static let byFirstLetter: [[StaticString]] = (0..<32).map { letter in
        (Self.conditions + Self.operations).filter { Int($0.utf8Start[0] & 31) == letter }
    }

    private static func isNamed(_ name: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
        let length = name.utf8CodeUnitCount
        guard line.count > length, line[length] == UInt8(ascii: ":") else { return false }
        return (0..<length).allSatisfy { index in
            let byte = line[index]
            return (byte >= 65 && byte <= 90 ? byte | 32 : byte) == name.utf8Start[index]
        }
    }
}
