internal import CassetteStore
internal import NIOCore
internal import TapeBytes

/// Recorded answers as they are sent, for all event loops of a session: some in memory, the others in a file without a name.
///
/// What is in the file has been read from the system's memory alone: an event loop does not wait for a disk.
final class ReplayCache: Sendable {
    /// In bytes: of memory what the buffers take, which are powers of two, and in the file what is in them.
    struct Limits {
        /// Answers that can be sent in one piece.
        var ready: Int
        /// The same where they cannot be in a file.
        var readyAlone: Int
        /// Answers that cannot, or that a client needed in another form.
        var answers: Int
        /// Further ones of the first kind, in the file.
        var file: Int

        /// A replay of 100,000 exchanges of 1 KiB is four fifths as fast as one of 1,000, and stays below 80 MB.
        static let one = Limits(ready: 4 << 20, readyAlone: 128 << 20, answers: 16 << 20, file: 256 << 20)
        /// For each of many sessions in one process: all of `SessionServer.sessionLimit` together have 256 MiB in memory, and 1 GiB in files.
        static let ofMany = Limits(ready: 896 << 10, readyAlone: 896 << 10, answers: 128 << 10, file: 4 << 20)
    }

    /// The overhead of an entry, in bytes: its buffer's object, and its slots in the cache.
    private static let entryWeight = 64

    private struct State {
        var ready: BoundedCache<ReadyAnswer>
        var answers: BoundedCache<RecordedAnswer>
        var readySize = 0
        /// Of ready answers, by exchange.
        var codings: [Int: RecordedCoding] = [:]
    }

    private let limits: Limits
    private let state: Guarded<State>
    private let file: AnswerFile

    /// - Parameter folder: of the file; nil for the system's.
    init(_ limits: Limits, folder: String? = nil) {
        self.limits = limits
        self.state = Guarded(
            State(
                ready: BoundedCache(limit: limits.readyAlone) { Self.weight($0) },
                answers: BoundedCache(limit: limits.answers) { $0.weight }))
        self.file = AnswerFile(limit: limits.file, folder: folder)
    }

    private static func weight(_ answer: ReadyAnswer) -> Int { self.entryWeight + answer.buffer.storageCapacity }

    func ready(_ index: Int) -> ReadyAnswer? { self.state.withLock { $0.ready.value(index) } ?? self.file.answer(index) }

    /// The content coding of a ready answer; nil if it has none.
    func coding(_ index: Int) -> RecordedCoding? { self.state.withLock { $0.codings[index] } }

    func answer(_ index: Int) -> RecordedAnswer? { self.state.withLock { $0.answers.value(index) } }

    /// May wait for the disk.
    func insert(_ answer: RecordedAnswer, at index: Int) {
        let isHeld = self.file.holds(index) || self.state.withLock { $0.ready.value(index) != nil }
        guard !isHeld, let ready = ReadyAnswer(answer) else {
            return self.state.withLock { $0.answers.insert(answer, at: index) }
        }
        if let coding = answer.coding { self.state.withLock { $0.codings[index] = coding } }
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
///
/// Of use only where what the system has in memory can be told from what it has on the disk: elsewhere it takes none.
private final class AnswerFile: Sendable {
    private struct State: Sendable {
        /// Nil before the first answer, and after the file was given up.
        var file: UnnamedFile?
        var size = 0
        /// By index; 0 bytes where there is none.
        var places: [(offset: Int, count: Int)] = []
        /// It could not be made, written or read at once.
        var isGivenUp = false

        func place(_ index: Int) -> Range<Int>? {
            guard index < self.places.count, self.places[index].count > 0 else { return nil }
            return self.places[index].offset..<self.places[index].offset + self.places[index].count
        }
    }

    private let limit: Int
    private let folder: String?
    private let state = Guarded(State())

    init(limit: Int, folder: String?) {
        self.limit = limit
        self.folder = folder
    }

    func holds(_ index: Int) -> Bool { self.state.withLock { $0.place(index) != nil } }

    /// Nil if it is not in the file, or not in the system's memory.
    func answer(_ index: Int) -> ReadyAnswer? {
        let found = self.state.withLock { state in state.place(index).flatMap { range in state.file.map { ($0, range) } } }
        return found.flatMap { file, range in Self.read(file, range) }
    }

    private static func read(_ file: UnnamedFile, _ range: Range<Int>) -> ReadyAnswer? {
        var buffer = ByteBufferAllocator().buffer(capacity: range.count)
        let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) { room in
            file.readAtOnce(into: UnsafeMutableRawBufferPointer(rebasing: room[..<range.count]), at: range.lowerBound) ? range.count : 0
        }
        return count == range.count ? ReadyAnswer(buffer) : nil
    }

    /// - Returns: whether it is in the file.
    func insert(_ answer: ReadyAnswer, at index: Int) -> Bool {
        let count = answer.buffer.readableBytes
        guard let (file, offset) = self.place(count) else { return false }
        do throws(CassetteError) {
            // Not under the lock, which event loops take.
            try answer.bytes.withUnsafeBufferPointer { bytes throws(CassetteError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: offset)
            }
        } catch {
            self.giveUp()
            return false
        }
        guard offset > 0 || Self.read(file, 0..<count) != nil else {
            self.giveUp()
            return false
        }
        return self.state.withLock { state in
            guard !state.isGivenUp else { return false }
            if index >= state.places.count {
                state.places += Array(repeating: (offset: 0, count: 0), count: index + 1 - state.places.count)
            }
            state.places[index] = (offset, count)
            return true
        }
    }

    /// Where the next answer is written; nil if there is no room for it.
    private func place(_ count: Int) -> (file: UnnamedFile, offset: Int)? {
        if self.state.withLock({ $0.file == nil && !$0.isGivenUp }) {
            guard let made = try? UnnamedFile(in: self.folder) else {
                self.giveUp()
                return nil
            }
            // Another thread may have been first.
            self.state.withLock { $0.file = $0.file ?? ($0.isGivenUp ? nil : made) }
        }
        return self.state.withLock { state in
            guard let file = state.file, state.size + count <= self.limit else { return nil }
            defer { state.size += count }
            return (file, state.size)
        }
    }

    /// The file goes with its last reader, and its room on the disk with it.
    private func giveUp() {
        self.state.withLock { state in
            state = State()
            state.isGivenUp = true
        }
    }
}
