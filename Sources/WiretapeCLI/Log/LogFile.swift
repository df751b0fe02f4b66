internal import CassetteModel
internal import Dispatch
internal import Logging
internal import Platform
internal import TapeBytes
internal import TapeProxy

/// The file of `--log`: a line for each event, in the order they came.
///
/// Lines are written by a thread of its own, whole, as soon as it can: whoever logs waits for no disk. What a full or slow disk does not
/// take is dropped, and counted in a line of its own.
final class LogFile: Sendable {
    /// Bytes that wait for the disk: some 40,000 events.
    static let limit = 4 << 20

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        /// The last write ended inside a line.
        var isTorn = false
        var isScheduled = false
    }

    let logger: Logger
    private let writer: Writer

    /// Appends to a file; makes one that only its owner may read if there is none.
    convenience init(path: String, level: Logger.Level) throws(SettingError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SettingError("the log \"\(path)\" cannot be written (\(String(cString: strerror(errno)))): give another --log.")
        }
        self.init(level: level, close: { _ = Self.close(descriptor) }) { Terminal.write($0, to: descriptor) }
    }

    private static func close(_ descriptor: Int32) -> Int32 {
        Platform.close(descriptor)
    }

    /// - Parameter write: takes bytes for the end of the file; returns how many it took, 0 or less if none.
    init(level: Logger.Level, close: @escaping @Sendable () -> Void = {}, write: @escaping @Sendable (UnsafeRawBufferPointer) -> Int) {
        let writer = Writer(close: close, write: write)
        self.writer = writer
        self.logger = Logger(label: "wiretape") { _ in LogFileHandler(logLevel: level) { writer.append($0) } }
    }

    /// Waits until what was logged is written, as far as the disk takes it.
    func flush() { self.writer.flush() }

    /// The file, and what waits to be written into it.
    private final class Writer: Sendable {
        private let close: @Sendable () -> Void
        private let write: @Sendable (UnsafeRawBufferPointer) -> Int
        private let state = Guarded(State())
        private let queue = DispatchQueue(label: "wiretape.log")

        init(close: @escaping @Sendable () -> Void, write: @escaping @Sendable (UnsafeRawBufferPointer) -> Int) {
            self.close = close
            self.write = write
        }

        deinit { self.close() }

        func append(_ line: [UInt8]) {
            let schedules = self.state.withLock { state -> Bool in
                guard state.waiting.count + line.count <= LogFile.limit else {
                    state.dropped += 1
                    return false
                }
                state.waiting += line
                defer { state.isScheduled = true }
                return !state.isScheduled
            }
            if schedules { self.queue.async { self.writeWaiting() } }
        }

        func flush() { self.queue.sync { self.writeWaiting() } }

        /// On the queue alone.
        private func writeWaiting() {
            let (note, noted, lines) = self.state.withLock { state in
                defer {
                    state.waiting = []
                    state.dropped = 0
                    state.isScheduled = false
                }
                let end = state.isTorn ? [UInt8(ascii: "\n")] : []
                guard state.dropped > 0 else { return (end, 0, state.waiting) }
                return (
                    end + LogFileHandler.line(.warning, "log lines dropped", ["count": "\(state.dropped)"]), state.dropped, state.waiting
                )
            }
            let text = note + lines
            var written = 0
            while written < text.count {
                let count = text[written...].withUnsafeBytes { self.write($0) }
                guard count > 0 else { break }
                written += count
            }
            self.state.withLock { state in
                // Nothing written: the file ends as it did before.
                if written > 0 { state.isTorn = text[written - 1] != UInt8(ascii: "\n") }
                // The lines that are not there in whole, and those that the note would have told of.
                state.dropped += text[max(written, note.count)...].count { $0 == UInt8(ascii: "\n") } + (written < note.count ? noted : 0)
            }
        }
    }
}

/// Makes a line of an event: time, level, message, and metadata as `key=value` in the order of the keys.
struct LogFileHandler: LogHandler {
    /// Characters of a value; the rest of a longer one is of no use to a reader of lines.
    private static let valueLimit = 1000

    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let append: @Sendable ([UInt8]) -> Void

    init(logLevel: Logger.Level, append: @escaping @Sendable ([UInt8]) -> Void) {
        self.logLevel = logLevel
        self.append = append
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    #if compiler(>=6.2)
    func log(event: LogEvent) { self.log(event.level, event.message, event.metadata) }
    #else
    // The swift-log that Swift 6.1 resolves has no events yet.
    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String, function: String, line: UInt
    ) {
        self.log(level, message, metadata)
    }
    #endif

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata?) {
        self.append(Self.line(level, message, self.metadata.merging(metadata ?? [:]) { $1 }))
    }

    /// - Parameter at: RFC 3339, in UTC; now unless given.
    static func line(
        _ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata, at time: Timestamp? = nil
    ) -> [UInt8] {
        var text = "\(time ?? .now) \(level.rawValue) \(VisibleText.line(message.description))"
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { text += " \(VisibleText.line(key))=\(self.shown("\(value)"))" }
        return Array(text.utf8) + [UInt8(ascii: "\n")]
    }

    /// One word, or quoted.
    private static func shown(_ value: String) -> String {
        let isLong = value.count > self.valueLimit
        let text = VisibleText.line(isLong ? value.prefix(self.valueLimit) + "…" : value)
        guard text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }) else { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension Timestamp {
    fileprivate static var now: Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
    }
}
