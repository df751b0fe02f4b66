internal import CassetteModel
internal import Dispatch
internal import Foundation
internal import TapeBytes
internal import TapeRecorder

/// The recording of an exchange that has not ended.
protocol RunningTape: Sendable {
    var id: Int { get }

    /// The cassette is being closed: what has arrived is recorded as cut.
    func recorderStopped()

    /// Stops recording the exchange.
    func drop()
}

/// The recorder of a cassette, with the exchanges that have not ended.
final class CassetteRecording: Sendable {
    let path: String
    private let recorder: Recorder
    /// Nil once it is closed: later exchanges are not recorded, and do not wait for the recorder.
    private let tapes = Guarded<[Int: any RunningTape]?>([:])
    private let waiting = Guarded<[@Sendable () -> Void]>([])
    private let done = Guarded<RecorderStatus?>(nil)

    init(_ recorder: Recorder, path: String) {
        self.recorder = recorder
        self.path = path
        recorder.onDrain { [weak self] in self?.drained() }
    }

    private var status: RecorderStatus { self.done.withLock { $0 } ?? self.recorder.currentStatus }
    var recordedCount: Int { self.status.recorded }
    var lostCount: Int { self.status.lost }

    // MARK: Exchanges

    func nextID() -> Int { self.recorder.nextID() }

    func add(_ tape: any RunningTape) {
        let isOpen = self.tapes.withLock { tapes in
            tapes?[tape.id] = tape
            return tapes != nil
        }
        if !isOpen { tape.drop() }
    }

    func remove(_ id: Int) { _ = self.tapes.withLock { $0?.removeValue(forKey: id) } }

    /// - Returns: whether the queue is full. If so, put nothing more until `whenDrained` calls back.
    func put(_ item: RecorderItem) -> Bool { self.recorder.put(item) }

    /// Calls back when the queue has room, possibly before this method returns.
    func whenDrained(_ call: @escaping @Sendable () -> Void) {
        self.waiting.withLock { $0.append(call) }
        // It may have drained before the call was added.
        if !self.recorder.isFull { self.drained() }
    }

    /// Blocks this thread.
    func waitUntilDrained() {
        let semaphore = DispatchSemaphore(value: 0)
        self.whenDrained { semaphore.signal() }
        semaphore.wait()
    }

    private func drained() {
        let calls = self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for call in calls { call() }
    }

    // MARK: Closing

    /// - Returns: the path of the recording.
    func close(keepsOld: Bool) throws(CassetteError) -> String {
        self.cutAll()
        let path = try self.recorder.close(keepsOld: keepsOld)
        let status = self.recorder.currentStatus
        self.done.withLock { $0 = status }
        guard status.leaks.isEmpty else { throw Self.leakError(status.leaks, in: path) }
        return path
    }

    func abandon() throws(CassetteError) {
        self.cutAll()
        self.done.withLock { $0 = RecorderStatus() }
        try self.recorder.discard()
        self.removeEmptyFolder()
    }

    /// Removes the folder of the bodies if it is empty.
    private func removeEmptyFolder() {
        let stem = self.path.hasSuffix(".json") ? String(self.path.dropLast(5)) : self.path
        let files = FileManager.default
        guard (try? files.contentsOfDirectory(atPath: stem + ".bodies"))?.isEmpty == true else { return }
        try? files.removeItem(atPath: stem + ".bodies")
    }

    private func cutAll() {
        let tapes = self.tapes.withLock { tapes in
            defer { tapes = nil }
            return tapes ?? [:]
        }
        for tape in tapes.values { tape.recorderStopped() }
    }

    private static func leakError(_ leaks: [CassetteLeak], in path: String) -> CassetteError {
        let shown = leaks.prefix(10).map { "\n  \($0)" }.joined()
        let rest = leaks.count > 10 ? "\n  and \(leaks.count - 10) more" : ""
        return CassetteError(
            .secretsLeft,
            "\"\(path)\" still contains secrets that should have been redacted:\(shown)\(rest)\nadd their places to settings.redact and record again, or run \"wiretape redact \(path)\"."
        )
    }
}
