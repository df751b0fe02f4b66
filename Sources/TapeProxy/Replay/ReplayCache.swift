internal import CassetteStore
internal import TapeBytes

/// Recorded answers as they are sent, for all event loops of a session: some in memory, the others in a file without a name.
///
/// What is in the file has been read from the system's memory alone: an event loop does not wait for a disk.
final class ReplayCache: Sendable {
    /// In bytes.
    struct Limits {
        /// Answers that can be sent in one piece.
        var ready: Int
        /// Answers that cannot, or that a client needed in another form.
        var answers: Int
        /// Further ones of the first kind, in the file.
        var file: Int

        /// A replay of 100,000 exchanges of 1 KiB is as fast as one of 1,000, and stays below 80 MB.
        static let one = Limits(ready: 8 << 20, answers: 16 << 20, file: 1 << 30)
        /// For each of many sessions in one process: all of `SessionServer.sessionLimit` together have 256 MiB in memory.
        static let ofMany = Limits(ready: 896 << 10, answers: 128 << 10, file: 16 << 20)
    }

    /// The overhead of an entry, in bytes: its array's header, and its slots in the cache.
    private static let entryWeight = 64

    private struct State {
        var ready: BoundedCache<ReadyAnswer>
        var answers: BoundedCache<RecordedAnswer>
        var readySize = 0
    }

    private let limits: Limits
    private let state: Guarded<State>
    private let file: AnswerFile

    /// - Parameter folder: of the file; nil for the system's.
    init(_ limits: Limits, folder: String? = nil) {
        self.limits = limits
        self.state = Guarded(
            State(
                ready: BoundedCache(limit: limits.ready) { Self.weight($0) }, answers: BoundedCache(limit: limits.answers) { $0.weight }))
        self.file = AnswerFile(limit: limits.file, folder: folder)
    }

    private static func weight(_ answer: ReadyAnswer) -> Int { self.entryWeight + answer.bytes.count }

    func ready(_ index: Int) -> ReadyAnswer? { self.state.withLock { $0.ready.value(index) } ?? self.file.answer(index) }

    func answer(_ index: Int) -> RecordedAnswer? { self.state.withLock { $0.answers.value(index) } }

    /// May wait for the disk.
    func insert(_ answer: RecordedAnswer, at index: Int) {
        guard self.ready(index) == nil, let ready = ReadyAnswer(answer) else {
            return self.state.withLock { $0.answers.insert(answer, at: index) }
        }
        let weight = Self.weight(ready)
        let isTaken = self.state.withLock { state in
            guard state.readySize + weight <= self.limits.ready else { return false }
            state.readySize += weight
            state.ready.insert(ready, at: index)
            return true
        }
        if isTaken || self.file.insert(ready, at: index) { return }
        // In place of others, since there is no room in the file.
        self.state.withLock { $0.ready.insert(ready, at: index) }
    }
}

/// Answers in a file without a name, each once, up to a number of bytes.
private final class AnswerFile: Sendable {
    private struct State: Sendable {
        /// Nil before the first answer.
        var file: UnnamedFile?
        var size = 0
        /// By index; 0 bytes where there is none.
        var places: [(offset: Int, count: Int)] = []
        /// There was no room, or no file.
        var isClosed = false
    }

    private let limit: Int
    private let folder: String?
    private let state = Guarded(State())

    init(limit: Int, folder: String?) {
        self.limit = limit
        self.folder = folder
    }

    /// Nil if it is not in the file, or not in the system's memory.
    func answer(_ index: Int) -> ReadyAnswer? {
        let found = self.state.withLock { state -> (file: UnnamedFile, range: Range<Int>)? in
            guard index < state.places.count, let file = state.file else { return nil }
            let place = state.places[index]
            return place.count == 0 ? nil : (file, place.offset..<place.offset + place.count)
        }
        return found.flatMap { $0.file.readAtOnce($0.range) }.map { ReadyAnswer(bytes: $0) }
    }

    /// - Returns: whether it is in the file.
    func insert(_ answer: ReadyAnswer, at index: Int) -> Bool {
        let count = answer.bytes.count
        guard let (file, offset) = self.place(count) else { return false }
        do throws(CassetteError) {
            // Not under the lock, which event loops take.
            try answer.bytes.withUnsafeBufferPointer { bytes throws(CassetteError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: offset)
            }
        } catch {
            self.state.withLock { $0.isClosed = true }
            return false
        }
        self.state.withLock { state in
            if index >= state.places.count {
                state.places += Array(repeating: (offset: 0, count: 0), count: index + 1 - state.places.count)
            }
            state.places[index] = (offset, count)
        }
        return true
    }

    /// Where the next answer is written; nil if there is no room for it.
    private func place(_ count: Int) -> (file: UnnamedFile, offset: Int)? {
        self.state.withLock { state in
            guard !state.isClosed, state.size + count <= self.limit else { return nil }
            guard let file = try? state.file ?? UnnamedFile(in: self.folder) else {
                state.isClosed = true
                return nil
            }
            state.file = file
            defer { state.size += count }
            return (file, state.size)
        }
    }
}
