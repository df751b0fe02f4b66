public import CassetteModel
internal import TapeBytes

extension MatchRules {
    /// The part of a request's key that its head gives: `METHOD scheme://host:port/path?query` with the normalised URL and its query
    /// sorted, and behind it a line feed and `name: value` for each field that is compared. What is not compared is `*` or not there;
    /// placeholders are marks (`MatchMark`).
    ///
    /// Lends the bytes without keeping them: no allocation below a kilobyte for the standard rules.
    public func withHeadKey<Result>(
        method: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let prefix = method.count + 1
        return withUnsafeTemporaryAllocation(byteCount: prefix + url.count + 1, alignment: 1) { output in
            output.copyBytes(from: method)
            output[method.count] = UInt8(ascii: " ")
            let length = URLNormalizer.write(url, to: UnsafeMutableRawBufferPointer(rebasing: output[prefix...]))
            let marked = MatchMark.replacePlaceholders(in: UnsafeMutableRawBufferPointer(rebasing: output[..<(prefix + length)]))
            let key = UnsafeMutableRawBufferPointer(rebasing: output[..<marked])
            guard self.isStandardHead else {
                return HeadKeyWriter(self.head, UnsafeRawBufferPointer(key), methodEnd: method.count).key(headers).withUnsafeBytes(body)
            }
            let mark = ByteScan.index(of: UInt8(ascii: "?"), in: UnsafeRawBufferPointer(key), from: min(prefix, marked))
            if mark < marked { QuerySorter.sort(UnsafeMutableRawBufferPointer(rebasing: key[(mark + 1)...])) }
            return body(UnsafeRawBufferPointer(key))
        }
    }

    public func withHeadKey<Result>(
        method: String, url: String, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        var method = method
        var url = url
        return method.withUTF8 { method in
            url.withUTF8 { url in
                self.withHeadKey(method: UnsafeRawBufferPointer(method), url: UnsafeRawBufferPointer(url), headers: headers, body)
            }
        }
    }
}
