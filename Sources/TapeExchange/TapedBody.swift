public import CassetteModel

/// A body as it came off the wire, before anybody looked into it.
public struct TapedBody: Sendable {
    /// Octets after transfer decoding.
    public var size: Int
    public var isComplete: Bool
    /// The octets, or the rest of them where earlier blocks were handed on.
    public var bytes: [UInt8]
    public var isSpilled: Bool
    public var arrival: Arrival?
    /// A sentence for people, kept with the body.
    public var note: String?

    public init(size: Int, isComplete: Bool, bytes: [UInt8], isSpilled: Bool = false, arrival: Arrival? = nil, note: String? = nil) {
        self.note = note
        self.size = size
        self.isComplete = isComplete
        self.bytes = bytes
        self.isSpilled = isSpilled
        self.arrival = arrival
    }
}
