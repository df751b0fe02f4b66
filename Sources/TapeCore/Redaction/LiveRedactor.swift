/// A cassette's rules on live requests, so that they are compared as the recorded ones were kept.
///
/// Numbers of placeholders need not be those of the cassette: matching takes all placeholders for the same.
public struct LiveRedactor: Sendable {
    private let redactor: Redactor

    public init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    /// The URL as the cassette would hold it; nil where it stays as it is.
    public func redacted(url: String) -> String? { nil }

    /// The fields as the cassette would hold them; nil where they stay as they are.
    public func redacted(headers: HeaderFields) -> HeaderFields? { nil }

    /// The wire octets of a body as the cassette would hold them; nil where they stay as they are.
    public func redacted(body: [UInt8], headers: HeaderFields) -> [UInt8]? { nil }
}
