import NIOConcurrencyHelpers

/// Lines that a proxy had for people.
final class NoticeList: Sendable {
    private let box = NIOLockedValueBox<[String]>([])

    var lines: [String] { self.box.withLockedValue { $0 } }

    @Sendable func add(_ line: String) { self.box.withLockedValue { $0.append(line) } }
}
