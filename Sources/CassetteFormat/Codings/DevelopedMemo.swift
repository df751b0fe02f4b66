internal import CassetteModel

/// The bodies developed last, so that octets that come again, as in polling, need no second development.
///
/// Only bodies that lie in the cassette itself: one with a sidecar has to pass the sink each time.
struct DevelopedMemo {
    /// With contents of 64 KiB at most, the memo stays below 1 MiB.
    static let limit = 16

    struct Key: Hashable {
        /// SHA-256 of the wire octets.
        var identity: [UInt8]
        var encoding: ContentEncoding
        /// The value of Content-Type, whose charset counts too.
        var type: [UInt8]?
        /// What is wrong with parts depends on whether all of them came.
        var isComplete: Bool
    }

    private var entries: [(key: Key, body: Body)] = []
    private var next = 0

    subscript(key: Key) -> Body? {
        self.entries.first { $0.key == key }?.body
    }

    mutating func remember(_ body: Body, for key: Key) {
        guard body.original == nil, body.content.sidecars.isEmpty else { return }
        if self.entries.count < Self.limit {
            self.entries.append((key, body))
        } else {
            self.entries[self.next] = (key, body)
            self.next = (self.next + 1) % Self.limit
        }
    }
}
