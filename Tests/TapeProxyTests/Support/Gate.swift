import Dispatch

/// Lets one thread wait until another says so.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let name: String

    init(_ name: String) { self.name = name }

    func open() { self.semaphore.signal() }

    func wait() throws {
        guard self.semaphore.wait(timeout: .now() + .seconds(RawConnection.patience)) == .success else {
            throw RawError("nobody opened the gate \"\(self.name)\"")
        }
    }
}
