internal import CassetteModel
internal import CassetteStore
internal import Dispatch
internal import TapeBytes

/// One sync of the cassette and its bodies, on a thread that may wait for the disk.
final class BackgroundSync: Sendable {
    let syncs: [PendingSync]
    private let outcome = Guarded<Result<Void, CassetteError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts at once, in order.
    init(_ syncs: [PendingSync]) {
        self.syncs = syncs
        DispatchQueue.global().async {
            let result: Result<Void, CassetteError>
            do throws(CassetteError) {
                for sync in syncs { try sync.run() }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            self.outcome.withLock { $0 = result }
            self.done.signal()
        }
    }

    /// How it ended; nil while it goes on, unless the caller waits for its end.
    func result(waits: Bool) -> Result<Void, CassetteError>? {
        if waits {
            self.done.wait()
            self.done.signal()
        }
        return self.outcome.withLock { $0 }
    }
}
