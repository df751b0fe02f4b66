/// Tells whether dialling an address would reach the proxy itself.
///
/// Judges the address a name was resolved to, at the moment of dialling: names and spellings lie, and may change in between.
public struct LoopRule: Sendable, Hashable {
    public let port: Int
    private let own: Set<IPAddress>

    /// `interfaces` are the machine's own addresses; they count where the proxy listens on all of them.
    public init(listeningOn address: IPAddress, port: Int, interfaces: [IPAddress]) {
        self.port = port
        self.own = address.isUnspecified ? Set(interfaces) : [address]
    }

    /// Every loopback address and 0.0.0.0 and :: count as own, whatever the proxy listens on: rather refuse one odd neighbour
    /// than serve a loop or the control port.
    public func isSelf(address: IPAddress, port: Int) -> Bool {
        guard port == self.port else { return false }
        return address.isLoopback || address.isUnspecified || self.own.contains(address)
    }
}
