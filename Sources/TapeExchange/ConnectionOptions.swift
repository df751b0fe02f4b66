internal import CassetteModel

/// The options of a message's Connection fields (RFC 9110, 7.6.1).
struct ConnectionOptions {
    private(set) var close = false
    private(set) var keepAlive = false
    private(set) var upgrade = false
    /// Lower-case names of further fields meant for this connection alone.
    private var nominated: Set<[UInt8]> = []

    init(_ fields: HeaderFields) {
        for index in 0..<fields.count where fields.isNamed("connection", at: index) {
            for option in FieldList(fields.valueBytes(at: index)) {
                if FieldList.equals(option, "close") {
                    self.close = true
                } else if FieldList.equals(option, "keep-alive") {
                    self.keepAlive = true
                } else if FieldList.equals(option, "upgrade") {
                    self.upgrade = true
                } else if FieldKind.of(option) == .endToEnd {
                    // Any other kind has its own rule. In particular nobody may nominate framing or routing away: the next
                    // hop would read another message (RFC 9110, 7.6.1: no option for a field meant for all recipients).
                    self.nominated.insert(option.map(Octets.lower))
                }
            }
        }
    }

    func nominates(_ name: ArraySlice<UInt8>) -> Bool {
        !self.nominated.isEmpty && self.nominated.contains(name.map(Octets.lower))
    }
}
