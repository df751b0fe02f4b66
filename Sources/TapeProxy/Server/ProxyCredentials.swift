/// Checks `Proxy-Authorization: Basic` (RFC 7617) against the one pair of credentials a proxy may want.
struct ProxyCredentials: Sendable {
    private let expected: Secret

    /// - Parameter pair: `USER:PASSWORD`; the user may not be empty.
    init(pair: String) throws(ProxyError) {
        guard let colon = pair.firstIndex(of: ":"), colon != pair.startIndex, pair.index(after: colon) != pair.endIndex else {
            throw ProxyError(
                .invalidCredentials, "the proxy's credentials are not USER:PASSWORD: give both, with a colon between them.")
        }
        self.expected = Secret(pair)
    }

    func accept(_ fieldValue: String?) -> Bool {
        guard let given = BasicCredentials(fieldValue) else { return false }
        return self.expected.isEqual(to: given.pair)
    }
}
