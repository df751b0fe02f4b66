import TapeBytes
import Logging

/// The logged events, one line each, with metadata sorted by key.
final class LogLines: Sendable {
    private let box = Guarded<[String]>([])

    var lines: [String] { self.box.withLock { $0 } }

    /// - Returns: a logger that writes here.
    func logger(_ level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in Handler(logLevel: level) { line in self.box.withLock { $0.append(line) } } }
    }

    private struct Handler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level
        let append: @Sendable (String) -> Void

        init(logLevel: Logger.Level, append: @escaping @Sendable (String) -> Void) {
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
        func log(
            level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String, function: String,
            line: UInt
        ) {
            self.log(level, message, metadata)
        }
        #endif

        private func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata?) {
            let pairs = self.metadata.merging(metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            self.append("\(level) \(message)" + pairs.joined())
        }
    }
}
