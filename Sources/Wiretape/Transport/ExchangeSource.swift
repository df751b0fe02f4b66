/// Where an answer came from.
public enum ExchangeSource: Sendable, Hashable {
    /// The network.
    case live
    /// The network, and it was recorded: the exchange's number in the cassette.
    case recorded(cassette: String, id: Int)
    /// A cassette, which took its place: the exchange's number there.
    case replayed(cassette: String, id: Int)
    /// A stub of this process.
    case stub
}
