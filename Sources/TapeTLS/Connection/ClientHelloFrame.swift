/// Tells whether a client's first message is there as a whole, before anything is spent on the connection.
///
/// Reads lengths alone: what the message says, and whether it is in order, is OpenSSL's to judge.
public enum ClientHelloFrame {
    /// Hellos have some 500 octets, with post-quantum keys 2,000; what is longer is left to OpenSSL's own limit.
    private static let longest = 16_384

    /// - Parameter octets: from the connection's beginning.
    /// - Returns: true also where more would change nothing, since it is no hello or too long.
    public static func isWhole(_ octets: some RandomAccessCollection<UInt8>) -> Bool {
        var rest = octets[...]
        var message = 0
        var wanted = 4
        // Records of type handshake (22), each with a header of 5 octets (RFC 8446, 5.1); a message may be spread over several.
        while message < wanted {
            guard octets.count < Self.longest else { return true }
            guard rest.count >= 5 else { return false }
            let header = Array(rest.prefix(5))
            let length = Int(header[3]) << 8 | Int(header[4])
            guard header[0] == 22, length > 0 else { return true }
            let content = rest.dropFirst(5).prefix(length)
            // The message's own header: its type and 24 bits of length (RFC 8446, 4).
            if message == 0, content.count >= 4 { wanted = 4 + content.dropFirst().prefix(3).reduce(0) { $0 << 8 | Int($1) } }
            guard content.count == length else { return false }
            message += length
            rest = rest.dropFirst(5 + length)
        }
        return true
    }
}
