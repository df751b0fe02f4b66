internal import Dispatch
internal import Foundation
internal import TapeBytes

/// Passes events from a producer that cannot wait to a receiver that may pause.
///
/// Events that arrive while the receiver is paused are kept in order: bytes in memory up to a limit, then in an unlinked temporary file. One
/// event is delivered at a time.
final class EventRelay: Sendable {
    /// How many bytes of chunks are held in memory.
    static let memoryLimit = 1 << 20

    private enum Held: Sendable {
        case event(TransportEvent)
        /// A chunk of this many bytes, next in the file.
        case spooled(Int)
    }

    private struct State: Sendable {
        var held: [Held] = []
        /// How many of `held` were delivered.
        var first = 0
        /// Bytes of the chunks in `held`.
        var memory = 0
        var spool: ChunkSpool?
        var isDelivering = false
        var isPaused = false
        var wasResumed = false
        var isCancelled = false
        var isOver = false
        /// The last event is held or was delivered.
        var hasLast = false
    }

    private enum Next { case deliver(TransportEvent), stop, reportCancelled }

    private let receive: @Sendable (TransportEvent) -> Demand
    private let state = Guarded(State())

    init(_ receive: @escaping @Sendable (TransportEvent) -> Demand) { self.receive = receive }

    /// Whether the receiver has paused.
    var isPaused: Bool { self.state.withLock { $0.isPaused } }

    /// Whether the receiver gets no more events.
    var isOver: Bool { self.state.withLock { $0.isOver } }

    /// Called by one thread at a time. Ignores events after a last one.
    func push(_ event: TransportEvent) {
        let delivers = self.state.withLock { state in
            guard !state.isOver, !state.hasLast else { return false }
            state.hasLast = event.isLast
            Self.hold(event, in: &state)
            guard !state.isDelivering, !state.isPaused else { return false }
            state.isDelivering = true
            return true
        }
        if delivers { self.deliver() }
    }

    private static func hold(_ event: TransportEvent, in state: inout State) {
        guard case .chunk(let data) = event, state.isPaused || state.isDelivering else { return state.held.append(.event(event)) }
        if state.spool == nil, state.memory + data.count > Self.memoryLimit { state.spool = try? ChunkSpool() }
        // If the disk is full, bytes stay in memory.
        if let spool = state.spool, (try? spool.append(data)) != nil {
            state.held.append(.spooled(data.count))
        } else {
            state.memory += data.count
            state.held.append(.event(event))
        }
    }

    private func deliver() {
        while true {
            switch self.state.withLock({ Self.next(&$0) }) {
            case .stop: return
            case .reportCancelled:
                _ = self.receive(.failed(.cancelled()))
                return
            case .deliver(let event):
                let demand = self.receive(event)
                guard demand == .pause, !event.isLast else { continue }
                self.state.withLock { $0.isPaused = !$0.wasResumed }
            }
        }
    }

    private static func next(_ state: inout State) -> Next {
        guard !state.isOver else { return .stop }
        if state.isCancelled {
            self.end(&state)
            return .reportCancelled
        }
        guard !state.isPaused, state.first < state.held.count else {
            state.isDelivering = false
            if state.first == state.held.count { (state.held, state.first, state.memory) = ([], 0, 0) }
            return .stop
        }
        state.wasResumed = false
        let held = state.held[state.first]
        state.first += 1
        switch held {
        case .event(let event):
            if case .chunk(let data) = event { state.memory = max(0, state.memory - data.count) }
            if event.isLast { self.end(&state) }
            return .deliver(event)
        case .spooled(let count):
            do {
                guard let data = try state.spool?.next(count) else { throw CocoaError(.fileReadUnknown) }
                return .deliver(.chunk(data))
            } catch {
                self.end(&state)
                let message =
                    "data buffered while the receiver was paused could not be read back from the temporary folder: free disk space, or read faster"
                return .deliver(.failed(TransportFailure(.unsupported, message, cause: error)))
            }
        }
    }

    private static func end(_ state: inout State) {
        state.isOver = true
        state.isDelivering = false
        state.held = []
        state.spool = nil
    }

    func resume() {
        let delivers = self.state.withLock { state in
            guard !state.isOver else { return false }
            state.isPaused = false
            state.wasResumed = true
            guard !state.isDelivering, state.first < state.held.count else { return false }
            state.isDelivering = true
            return true
        }
        // Does not run on the caller's thread, which may hold a lock that the receiver needs.
        if delivers { DispatchQueue.global().async { self.deliver() } }
    }

    func cancel() {
        let tells = self.state.withLock { state in
            guard !state.isOver else { return false }
            state.isCancelled = true
            guard !state.isDelivering else { return false }
            Self.end(&state)
            return true
        }
        if tells { _ = self.receive(.failed(.cancelled())) }
    }
}

/// A queue of bytes on the disk, first in, first out.
///
/// The file is unlinked once it is open, so that a crash leaves nothing behind.
// SAFETY: used under the lock of its owner.
final class ChunkSpool: @unchecked Sendable {
    private let file: FileHandle
    private var written: UInt64 = 0
    private var read: UInt64 = 0

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        // Readable by this user only: it may hold secrets.
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
        }
        defer { try? FileManager.default.removeItem(at: url) }
        self.file = try FileHandle(forUpdating: url)
    }

    deinit { try? self.file.close() }

    func append(_ data: Data) throws {
        try self.file.seek(toOffset: self.written)
        try self.file.write(contentsOf: data)
        self.written += UInt64(data.count)
    }

    /// The next bytes.
    ///
    /// - Parameter count: at most as many as were appended and not yet read.
    func next(_ count: Int) throws -> Data {
        try self.file.seek(toOffset: self.read)
        guard count > 0 else { return Data() }
        guard let data = try self.file.read(upToCount: count), data.count == count else { throw CocoaError(.fileReadCorruptFile) }
        self.read += UInt64(count)
        return data
    }
}
