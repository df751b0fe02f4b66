/// TLS records (RFC 8446, 5.1) in a stream of bytes.
enum TLSRecord {
    static let alert: UInt8 = 21
    static let handshake: UInt8 = 22
    static let application: UInt8 = 23

    static func fatalAlert(_ number: UInt8) -> [UInt8] { [self.alert, 3, 3, 0, 2, 2, number] }

    /// Splits a stream into its records; the last one may be incomplete.
    static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        var records: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 5 {
            let count = 5 + Int(rest[rest.startIndex + 3]) << 8 + Int(rest[rest.startIndex + 4])
            records.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        if !rest.isEmpty { records.append(Array(rest)) }
        return records
    }
}
