/// What the libcurl beneath URLSession on Linux says of itself.
public struct LibcurlFacts: Sendable, Hashable {
    /// `7.88.1`.
    public var version: String
    /// URL schemes, lower-case: `http`, `https`, `ws`.
    public var protocols: Set<String>
    public var hasHTTP2: Bool

    public init(version: String, protocols: Set<String>, hasHTTP2: Bool) {
        self.version = version
        self.protocols = protocols
        self.hasHTTP2 = hasHTTP2
    }
}
