import TapeBytes
@testable import CassetteStore

/// A disk that counts its calls, lets one of them fail, or allows inspection before and after each.
///
/// A write is two calls, its first half and the rest, so that an inspection can fall between them.
final class StepDisk: Sendable {
    private struct State {
        var steps = 0
        var failing: (step: Int, error: Int32)?
    }

    private let state = Guarded(State())
    /// Called before each step; `look` calls it after the last one.
    private let willStep: @Sendable () -> Void

    init(willStep: @escaping @Sendable () -> Void = {}) { self.willStep = willStep }

    /// The steps so far.
    var steps: Int { self.state.withLock { $0.steps } }

    /// Makes one step fail once, counted from 0.
    func fail(step: Int, with error: Int32) { self.state.withLock { $0.failing = (step, error) } }

    private func step() -> Int32? {
        self.willStep()
        return self.state.withLock { state in
            defer { state.steps += 1 }
            return state.failing?.step == state.steps ? state.failing?.error : nil
        }
    }

    var calls: DiskCalls {
        var calls = DiskCalls.system
        calls.write = { descriptor, bytes, offset in
            if let error = self.step() { return -Int(error) }
            let half = UnsafeRawBufferPointer(rebasing: bytes[..<max(1, bytes.count / 2)])
            return DiskCalls.system.write(descriptor, half.count < 64 ? bytes : half, offset)
        }
        calls.truncate = { descriptor, size in self.step().map { -Int($0) } ?? DiskCalls.system.truncate(descriptor, size) }
        // Only the content matters here, not the speed of the machine's disk.
        calls.synchronize = { _ in self.step().map { -Int($0) } ?? 0 }
        calls.remove = { folder, name in self.step().map { -Int($0) } ?? DiskCalls.system.remove(folder, name) }
        calls.link = { folder, name, second in self.step().map { -Int($0) } ?? DiskCalls.system.link(folder, name, second) }
        return calls
    }
}
