import Foundation
@testable import CassetteStore

/// A disk that can be full, slow, interrupted or broken, and counts its calls.
final class FaultyDisk: Sendable {
    struct State {
        /// No byte is stored at or after this offset: the disk is full there.
        var end = Int.max
        /// The maximum number of bytes per write.
        var writeLimit = Int.max
        /// Every second call is interrupted by a signal.
        var interrupts = false
        var writeError: Int32 = 0
        var syncError: Int32 = 0
        var truncateError: Int32 = 0
        var calls = 0
        var writes = 0
        var written = 0
        var syncs = 0
        var log: [String] = []
    }

    private let lock = NSLock()
    // SAFETY: only touched inside `with`, under the lock.
    nonisolated(unsafe) private var state = State()

    @discardableResult
    func with<Result>(_ body: (inout State) -> Result) -> Result { self.lock.withLock { body(&self.state) } }

    private func isInterrupted() -> Bool {
        self.with { state in
            state.calls += 1
            return state.interrupts && state.calls % 2 == 1
        }
    }

    var calls: DiskCalls {
        var calls = DiskCalls.system
        calls.read = { descriptor, bytes, offset in
            if self.isInterrupted() { return -Int(EINTR) }
            return DiskCalls.system.read(descriptor, bytes, offset)
        }
        calls.write = { descriptor, bytes, offset in
            if self.isInterrupted() { return -Int(EINTR) }
            let (count, error) = self.with { (min(bytes.count, $0.writeLimit, max(0, $0.end - offset)), $0.writeError) }
            if error != 0 { return -Int(error) }
            if count == 0 { return -Int(ENOSPC) }
            let result = DiskCalls.system.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<count]), offset)
            self.with { state in
                state.writes += 1
                state.written += max(0, result)
            }
            return result
        }
        calls.truncate = { descriptor, size in
            if self.isInterrupted() { return -Int(EINTR) }
            let error = self.with { $0.truncateError }
            return error != 0 ? -Int(error) : DiskCalls.system.truncate(descriptor, size)
        }
        calls.synchronize = { descriptor in
            if self.isInterrupted() { return -Int(EINTR) }
            let error = self.with { state in
                state.syncs += 1
                return state.syncError
            }
            return error != 0 ? -Int(error) : 0
        }
        return calls
    }
}
