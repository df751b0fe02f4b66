internal import Foundation

/// Where requests go that have neither a transport nor a cassette: to the network, unless the environment keeps them from it.
enum FallbackTransport {
    /// The variable that keeps them from it, as in the tests of a service that has no network to rely on.
    static let variable = "WIRETAPE_OFFLINE"

    static let shared: any Transport = Self.transport(environment: ProcessInfo.processInfo.environment)

    static func transport(environment: [String: String]) -> any Transport {
        EnvironmentSwitch.isOn(environment[self.variable]) ? OfflineTransport() : LiveTransport.shared
    }
}
