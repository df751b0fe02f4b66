import CassetteStore
import Foundation
import TapeBytes

/// A disk that fails on demand, and counts its calls.
final class FailingDisk: Sendable {
    struct State {
        /// An `errno`; 0 for success.
        var writeError: Int32 = 0
        /// Shorter writes succeed.
        var shortestFailed = 0
        var syncError: Int32 = 0
        var readError: Int32 = 0
        /// All calls, including failed ones.
        var writes = 0
        /// The number of failed calls among them.
        var failed = 0
        /// The number of bytes that these calls were to write.
        var bytes = 0
        var syncs = 0
        /// The order of both: `w` for a write, `s` for a sync.
        var log = ""
    }

    private let state = Guarded(State())
    private let willRemove: @Sendable (_ name: String) -> Void

    /// - Parameter willRemove: called before the removal of each body file.
    init(willRemove: @escaping @Sendable (_ name: String) -> Void = { _ in }) { self.willRemove = willRemove }

    func with<Result>(_ body: (inout State) -> Result) -> Result { self.state.withLock { body(&$0) } }

    var calls: DiskCalls {
        var calls = DiskCalls.system
        calls.read = { descriptor, bytes, offset in
            let error = self.with { $0.readError }
            return error != 0 ? -Int(error) : DiskCalls.system.read(descriptor, bytes, offset)
        }
        calls.write = { descriptor, bytes, offset in
            let error = self.with { state in
                state.writes += 1
                state.log += "w"
                state.bytes += bytes.count
                let error = bytes.count >= state.shortestFailed ? state.writeError : 0
                if error != 0 { state.failed += 1 }
                return error
            }
            return error != 0 ? -Int(error) : DiskCalls.system.write(descriptor, bytes, offset)
        }
        calls.remove = { folder, name in
            self.willRemove(name)
            return DiskCalls.system.remove(folder, name)
        }
        calls.synchronize = { descriptor in
            let error = self.with { state in
                state.syncs += 1
                state.log += "s"
                return state.syncError
            }
            return error != 0 ? -Int(error) : DiskCalls.system.synchronize(descriptor)
        }
        return calls
    }
}
