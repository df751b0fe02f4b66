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

/// Reads variables that are there or not.
package enum EnvironmentSwitch {
    /// Services set them to "true" or "1"; people unset them by "false", "no", "0" or nothing.
    package static func isOn(_ value: String?) -> Bool { !["", "0", "false", "no"].contains((value ?? "").lowercased()) }
}

/// Refuses each request: nobody recorded an answer, and nobody is to be asked.
struct OfflineTransport: Transport {
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let message =
            "\(request.method) \"\(LogURL.text(request.url))\" has no cassette, and \(FallbackTransport.variable) keeps it from the network: make it in the task of its test, or through Session(cassette:), or unset the variable."
        _ = receive(.failed(TransportFailure(.unsupported, message)))
        return FinishedTask.shared
    }
}
