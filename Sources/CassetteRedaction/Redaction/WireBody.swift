public import CassetteModel

/// The octets of a body as they came off the wire, with what has to change when they do.
public struct WireBody: Sendable, Hashable {
    /// After transfer decoding, before content decoding.
    public var octets: [UInt8]
    public var arrival: Arrival?
    public var isComplete: Bool

    public init(_ octets: [UInt8], arrival: Arrival? = nil, isComplete: Bool = true) {
        self.octets = octets
        self.arrival = arrival
        self.isComplete = isComplete
    }
}
