internal import Foundation

extension URL {
    /// The URL with more behind its query. What is there stays as it is written.
    ///
    /// - Parameter query: percent-encoded; nothing changes where it is empty.
    /// - Throws: `URLConversionError`.
    func appending(query: String) throws(URLConversionError) -> URL {
        guard !query.isEmpty else { return self }
        let text = self.absoluteString
        let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let target = text[..<fragment]
        let separator = !target.utf8.contains(UInt8(ascii: "?")) ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
        return try URLText(target + separator + query + text[fragment...]).url
    }
}
