public import CassetteModel

/// The bytes of a body as they came off the wire, with what has to change when they do.
public struct WireBody: Sendable, Hashable {
    /// After transfer decoding, before content decoding.
    public var bytes: [UInt8]
    public var arrival: Arrival?
    public var isComplete: Bool

    public init(_ bytes: [UInt8], arrival: Arrival? = nil, isComplete: Bool = true) {
        self.bytes = bytes
        self.arrival = arrival
        self.isComplete = isComplete
    }
}
