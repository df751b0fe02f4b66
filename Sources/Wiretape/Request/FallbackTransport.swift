internal import Foundation

/// Where requests go that have neither a transport nor a cassette: to the network, unless the environment keeps them from it.
enum FallbackTransport {
    /// The variable that keeps them from it, as in the tests of a service that has no network to rely on.
    static let variable = "WIRETAPE_OFFLINE"

    private static let isOffline = Self.isOffline(ProcessInfo.processInfo.environment)

    static func isOffline(_ environment: [String: String]) -> Bool { EnvironmentSwitch.isOn(environment[self.variable]) }

    static func transport(around network: @autoclosure () -> LiveTransport, isOffline: Bool = Self.isOffline) -> any Transport {
        isOffline ? OfflineTransport() : network()
    }
}
