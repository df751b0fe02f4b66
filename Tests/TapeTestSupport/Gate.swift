internal import Dispatch

/// Lets one thread wait for another.
package final class Gate: Sendable {
    /// After this many seconds, a wait fails its test.
    private static let patience = 120

    private let semaphore = DispatchSemaphore(value: 0)
    private let name: String

    package init(_ name: String) { self.name = name }

    package func open() { self.semaphore.signal() }

    package func wait() throws {
        guard self.semaphore.wait(timeout: .now() + .seconds(Self.patience)) == .success else {
            throw TestProblem("nobody opened the gate \"\(self.name)\"")
        }
    }
}
