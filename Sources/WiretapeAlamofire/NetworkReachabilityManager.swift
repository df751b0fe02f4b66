public import Dispatch
internal import Platform

/// Whether this computer has an address other than the loopback address.
///
/// Sends nothing: it finds out neither whether a host answers nor over which kind of network. Changes are not observed: a listener is
/// called once. Rather send the request, and retry it with a `RetryPolicy`.
public final class NetworkReachabilityManager: Sendable {
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// The system did not say.
        case unknown
        /// There is no address except the loopback address.
        case notReachable
        case reachable(ConnectionType)

        public enum ConnectionType: Sendable, Hashable {
            case ethernetOrWiFi
            /// Never given here.
            case cellular
        }
    }

    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// Never nil. The optional is Alamofire's.
    public init?() {}

    /// - Parameter host: ignored.
    public convenience init?(host: String) { self.init() }

    public var status: NetworkReachabilityStatus {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return .unknown }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let isUp = entry.ifa_flags & UInt32(IFF_UP) != 0 && entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            guard isUp, let address = entry.ifa_addr else { continue }
            let family = Int32(address.pointee.sa_family)
            if family == AF_INET || family == AF_INET6 { return .reachable(.ethernetOrWiFi) }
        }
        return .notReachable
    }

    public var isReachable: Bool { if case .reachable = self.status { true } else { false } }
    public var isReachableOnEthernetOrWiFi: Bool { self.isReachable }
    public var isReachableOnCellular: Bool { false }

    /// Calls a closure once with the current status.
    ///
    /// - Returns: false, since changes are not reported.
    @discardableResult
    public func startListening(onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener) -> Bool {
        let status = self.status
        queue.async { listener(status) }
        return false
    }

    /// Has no effect.
    public func stopListening() {}
}
