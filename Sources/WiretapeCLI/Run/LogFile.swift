internal import CassetteTools
internal import Dispatch
internal import Logging
internal import Platform
internal import TapeBytes
internal import TapeProxy

/// The file of `--log`: one line per event, in order of arrival.
///
/// A queue of its own writes whole lines as soon as it can: logging never waits for the disk. Lines that a full or slow disk does not
/// accept are dropped, and a later line reports how many.
final class LogFile: Sendable {
    /// The most bytes that wait for the disk: about 40,000 events.
    static let limit = 4 << 20

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        /// Whether the last write ended in the middle of a line.
        var isTorn = false
        var isScheduled = false
    }

    let logger: Logger
    private let writer: Writer

    /// Appends to a file; creates it, readable by its owner only, if there is none.
    convenience init(path: String, level: Logger.Level) throws(SettingError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SettingError("the log \"\(path)\" cannot be written (\(String(cString: strerror(errno)))): choose another --log.")
        }
        self.init(level: level, close: { _ = Self.close(descriptor) }) { Terminal.write($0, to: descriptor) }
    }

    private static func close(_ descriptor: Int32) -> Int32 {
        Platform.close(descriptor)
    }

    /// - Parameter write: appends bytes to the file; returns how many it wrote, 0 or less if none.
    init(level: Logger.Level, close: @escaping @Sendable () -> Void = {}, write: @escaping @Sendable (UnsafeRawBufferPointer) -> Int) {
        let writer = Writer(close: close, write: write)
        self.writer = writer
        self.logger = Logger(label: "wiretape") { _ in LogFileHandler(logLevel: level) { writer.append($0) } }
    }

    /// Waits until the logged lines are written, as far as the disk accepts them.
    func flush() { self.writer.flush() }

    /// The file, and the lines that wait to be written.
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

        /// Call on the queue only.
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
                // If nothing was written, the end of the file is unchanged.
                if written > 0 { state.isTorn = text[written - 1] != UInt8(ascii: "\n") }
                // Counts the lines that are not complete in the file, and those that the note would have counted.
                state.dropped += text[max(written, note.count)...].count { $0 == UInt8(ascii: "\n") } + (written < note.count ? noted : 0)
            }
        }
    }
}

/// Formats an event as a line: time, level, message, and metadata as `key=value`, sorted by key.
struct LogFileHandler: LogHandler {
    /// The most characters of a value; a longer one is cut off.
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
    // swift-log, as resolved for Swift 6.1, has no events yet.
    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String, function: String, line: UInt
    ) {
        self.log(level, message, metadata)
    }
    #endif

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata?) {
        self.append(Self.line(level, message, self.metadata.merging(metadata ?? [:]) { $1 }))
    }

    /// - Parameter at: written as in RFC 3339, in UTC; now by default.
    static func line(
        _ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata, at time: Timestamp? = nil
    ) -> [UInt8] {
        var text = "\(time ?? .now) \(level.rawValue) \(VisibleText.line(message.description))"
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { text += " \(VisibleText.line(key))=\(self.shown("\(value)"))" }
        return Array(text.utf8) + [UInt8(ascii: "\n")]
    }

    /// The value, in quotes unless it is one plain word.
    private static func shown(_ value: String) -> String {
        let isLong = value.count > self.valueLimit
        let text = VisibleText.line(isLong ? value.prefix(self.valueLimit) + "…" : value)
        guard text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }) else { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
