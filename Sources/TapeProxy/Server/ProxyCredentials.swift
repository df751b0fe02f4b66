internal import TapeCore

/// Checks `Proxy-Authorization: Basic` (RFC 7617) against the one pair of credentials a proxy may want.
struct ProxyCredentials: Sendable {
    private let expected: [UInt8]

    /// - Parameter pair: `USER:PASSWORD`; the user may not be empty.
    init(pair: String) throws(ProxyError) {
        guard let colon = pair.firstIndex(of: ":"), colon != pair.startIndex, pair.index(after: colon) != pair.endIndex else {
            throw ProxyError(
                code: .invalidCredentials, message: "the proxy's credentials are not USER:PASSWORD: give both, with a colon between them.")
        }
        self.expected = Array(pair.utf8)
    }

    /// Takes the time of the longer one, whatever they share, so that nobody measures the password out.
    func accept(_ fieldValue: String?) -> Bool {
        guard let fieldValue, let space = fieldValue.firstIndex(of: " "),
            fieldValue[..<space].lowercased() == "basic",
            let given = Base64.decode(Array(fieldValue[fieldValue.index(after: space)...].utf8))
        else { return false }
        var difference = given.count ^ self.expected.count
        for index in 0..<max(given.count, self.expected.count) {
            let left = index < given.count ? given[index] : 0
            let right = index < self.expected.count ? self.expected[index] : 0
            difference |= Int(left ^ right)
        }
        return difference == 0
    }
}
