extension HTTPHeaders {
    /// What a session sends where the request says nothing else: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
    public static let `default`: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]

    /// These fields, and those of `others` whose names are not among them.
    public func adding(missing others: HTTPHeaders) -> HTTPHeaders {
        var result = self
        for field in others where !self.contains(name: field.name) { result.add(field) }
        return result
    }
}
