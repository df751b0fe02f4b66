extension MatchRules {
    /// The part of a request's key that its head gives: `METHOD scheme://host:port/path?query` with the normalised URL, and a line
    /// `name: value` behind a line feed for each field that is compared. What is not compared is `*` or not there.
    ///
    /// Lends the bytes without keeping them: no allocation below a kilobyte for the standard rules.
    public func withHeadKey<Result>(
        method: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        RequestKey.withBytes(method: method, url: url, body)
    }

    public func withHeadKey<Result>(
        method: String, url: String, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        RequestKey.withBytes(method: method, url: url, body)
    }
}
