internal import TapeBytes

/// The last message of a client's NTLM login ([MS-NLMP], 2.2.1.3), in base64. It identifies the user and contains the proof.
///
/// The proof is a secret, and different in each login. The user's name is not a secret. It distinguishes two users who log in to one URL at
/// the same time, as the name in Digest does.
package struct NTLMMessage {
    /// `NTLMSSP` and the number of the message.
    private static let signature = Array("NTLMSSP\0".utf8) + [3, 0, 0, 0]
    /// The length of the head up to its flags.
    private static let headLength = 64
    /// The places in the head with length and offset of the domain and the user.
    private static let domainField = 28
    private static let userField = 36
    private static let flagsField = 60
    /// Longer values are not examined.
    private static let limit = 64 << 10

    private let flags: ArraySlice<UInt8>
    private let domain: ArraySlice<UInt8>
    private let user: ArraySlice<UInt8>

    /// Nil if the text is not such a message.
    package init?(_ base64: [UInt8]) {
        guard base64.count <= Self.limit, base64.starts(with: "TlRMTVNTUAAD".utf8), let message = Base64.decode(base64),
            message.starts(with: Self.signature), message.count >= Self.headLength,
            let domain = Self.field(Self.domainField, of: message), let user = Self.field(Self.userField, of: message)
        else { return nil }
        self.flags = message[Self.flagsField..<Self.headLength]
        self.domain = domain
        self.user = user
    }

    private static func field(_ place: Int, of message: [UInt8]) -> ArraySlice<UInt8>? {
        let length = Int(message[place]) | Int(message[place + 1]) << 8
        let offset = (0..<4).reduce(0) { $0 | Int(message[place + 4 + $1]) << (8 * $1) }
        guard offset <= message.count, length <= message.count - offset else { return nil }
        return message[offset..<offset + length]
    }

    /// The message with only its domain and user, in base64: the same for each login of a user.
    package var identity: [UInt8] {
        var message = Self.signature
        var offset = Self.headLength
        let absent = self.domain.prefix(0)
        // The two responses, the domain, the user, the workstation and the session key.
        for field in [absent, absent, self.domain, self.user, absent, absent] {
            let length = [UInt8(field.count & 0xff), UInt8(field.count >> 8)]
            message += length + length + (0..<4).map { UInt8(offset >> (8 * $0) & 0xff) }
            offset += field.count
        }
        message += self.flags + self.domain + self.user
        var text: [UInt8] = []
        message.withUnsafeBytes { Base64.encode($0, into: &text) }
        return text
    }
}
