import TapeBytes

/// The lines of a proxy for people.
final class NoticeList: Sendable {
    private let box = Guarded<[String]>([])

    var lines: [String] { self.box.withLock { $0 } }

    @Sendable func add(_ line: String) { self.box.withLock { $0.append(line) } }
}
