internal import CassetteStore
internal import NIOCore
internal import TapeBytes

/// Recorded answers in the form in which they are sent, for all event loops of a session: some in memory, the others in an unnamed file.
///
/// The file is read only as far as the system has it in memory, so that an event loop never waits for the disk.
final class ReplayCache: Sendable {
    /// Limits in bytes. In memory, the size of the buffers counts, which is a power of two; in the file, the size of their contents.
    struct Limits {
        /// Answers in memory that can be sent in one piece.
        var ready: Int
        /// The same limit if such answers cannot be kept in a file.
        var readyAlone: Int
        /// Answers that cannot be sent in one piece, or that a client needed in another form.
        var answers: Int
        /// Further answers that can be sent in one piece, in the file.
        var file: Int

        /// With these limits, replaying 100,000 exchanges of 1 KiB is four fifths as fast as replaying 1,000, and takes less than 80 MB.
        static let one = Limits(ready: 4 << 20, readyAlone: 128 << 20, answers: 16 << 20, file: 256 << 20)
        /// For each of many sessions in one process. Together, `SessionServer.sessionLimit` sessions take 256 MiB in memory and 1 GiB in
        /// files.
        static let ofMany = Limits(ready: 896 << 10, readyAlone: 896 << 10, answers: 128 << 10, file: 4 << 20)
    }

    /// The overhead of an entry, in bytes: its buffer object and its slots in the cache.
    private static let entryWeight = 64

    private struct State {
        var ready: BoundedCache<ReadyAnswer>
        var answers: BoundedCache<RecordedAnswer>
        var readySize = 0
        /// The codings of ready answers, by exchange.
        var codings: [Int: RecordedCoding] = [:]
    }

    private let limits: Limits
    private let state: Guarded<State>
    private let file: AnswerFile

    /// - Parameter folder: the folder for the file; nil for the system's temporary folder.
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
        // The file has no room, so this answer takes the place of others in memory.
        self.state.withLock { $0.ready.insert(ready, at: index) }
    }
}

/// Answers in an unnamed file, each stored once, up to a number of bytes.
///
/// Useful only if the system can tell what it has in memory from what is on the disk. Otherwise it stores nothing.
private final class AnswerFile: Sendable {
    private struct State: Sendable {
        /// nil before the first answer, and after the file was given up.
        var file: UnnamedFile?
        var size = 0
        /// By index. 0 bytes if there is no answer.
        var places: [(offset: Int, count: Int)] = []
        /// The file could not be created or written, or could not be read without waiting.
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

    /// nil if the answer is not in the file or not in the system's memory.
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

    /// - Returns: whether the answer is in the file now.
    func insert(_ answer: ReadyAnswer, at index: Int) -> Bool {
        let count = answer.buffer.readableBytes
        guard let (file, offset) = self.place(count) else { return false }
        do throws(CassetteError) {
            // Written outside the lock, because event loops take it.
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
            // Another thread may have created it first.
            self.state.withLock { $0.file = $0.file ?? ($0.isGivenUp ? nil : made) }
        }
        return self.state.withLock { state in
            guard let file = state.file, state.size + count <= self.limit else { return nil }
            defer { state.size += count }
            return (file, state.size)
        }
    }

    /// The file and its disk space are released with its last reader.
    private func giveUp() {
        self.state.withLock { state in
            state = State()
            state.isGivenUp = true
        }
    }
}
