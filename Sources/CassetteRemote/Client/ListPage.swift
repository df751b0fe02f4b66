package import TapeBytes

/// An object in a listing.
package struct ListedObject: Sendable, Hashable {
    /// Below the store's prefix.
    package var name: String
    package var size: Int
    package var modified: Timestamp
}

/// One page of ListObjectsV2's answer.
struct ListPage {
    var objects: [(key: String, size: Int, modified: Timestamp)] = []
    var isTruncated = false
    var next: String?

    /// Nil if the text is not such an answer.
    init?(_ bytes: [UInt8]) {
        var path: [String] = []
        var isWhole = false
        var (key, size, modified) = ("", "", "")
        var (truncated, token) = ("", "")
        bytes.withUnsafeBytes { bytes in
            var reader = XMLReader(bytes)
            var text: [UInt8] = []
            while let token_ = reader.next(&text) {
                switch token_ {
                case .start(let name, _):
                    path.append(String(decoding: bytes[name.local], as: UTF8.self))
                    text = []
                    if path == ["ListBucketResult", "Contents"] { (key, size, modified) = ("", "", "") }
                case .end:
                    let value = String(decoding: text, as: UTF8.self)
                    switch path {
                    case ["ListBucketResult", "Contents", "Key"]: key = value
                    case ["ListBucketResult", "Contents", "Size"]: size = value
                    case ["ListBucketResult", "Contents", "LastModified"]: modified = value
                    case ["ListBucketResult", "IsTruncated"]: truncated = value
                    case ["ListBucketResult", "NextContinuationToken"]: token = value
                    case ["ListBucketResult", "Contents"]:
                        guard let size = Int(size), size >= 0, let time = Timestamp(modified) else { return }
                        self.objects.append((key, size, time))
                    default: break
                    }
                    if path.count == 1 { isWhole = path == ["ListBucketResult"] }
                    path.removeLast()
                    text = []
                case .text, .instruction, .documentType: break
                case .endOfDocument: return
                }
            }
            isWhole = false
        }
        guard isWhole else { return nil }
        self.isTruncated = truncated == "true"
        self.next = token.isEmpty ? nil : token
    }
}

/// The error code in the text of an answer, such as `NoSuchBucket`; nil if there is none.
enum ErrorCode {
    static func read(_ bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { bytes in
            var reader = XMLReader(bytes)
            var text: [UInt8] = []
            var path: [String] = []
            while let token = reader.next(&text) {
                switch token {
                case .start(let name, _):
                    path.append(String(decoding: bytes[name.local], as: UTF8.self))
                    text = []
                case .end:
                    if path.last == "Code", path.count == 2 {
                        let isPlain =
                            (1...64).contains(text.count) && text.allSatisfy { (48...57).contains($0) || (65...90).contains($0 & 0xdf) }
                        return isPlain ? String(decoding: text, as: UTF8.self) : nil
                    }
                    path.removeLast()
                    text = []
                case .text, .instruction, .documentType: break
                case .endOfDocument: return nil
                }
            }
            return nil
        }
    }
}
