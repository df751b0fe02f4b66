internal import TapeBytes

/// The user and password of a `Basic` authorization field (RFC 7617), as bytes.
struct BasicCredentials: Sendable, Hashable {
    /// `USER:PASSWORD`.
    let pair: [UInt8]

    /// nil for other schemes and invalid base64.
    init?(_ fieldValue: String?) {
        guard let fieldValue, let space = fieldValue.firstIndex(of: " "), fieldValue[..<space].lowercased() == "basic",
            let pair = Base64.decode(Array(fieldValue[space...].drop { $0 == " " }.utf8))
        else { return nil }
        self.pair = pair
    }

    /// The token68 form of a pair (RFC 7617, 2).
    static func encoded(_ pair: [UInt8]) -> String {
        var text: [UInt8] = []
        pair.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The parts before and after the first colon; nil without a colon.
    var parts: (user: ArraySlice<UInt8>, password: ArraySlice<UInt8>)? {
        guard let colon = self.pair.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (self.pair[..<colon], self.pair[(colon + 1)...])
    }
}
