internal import TapeBytes

/// Which class belongs to which session.
///
/// A class is never given to a second one: a session that still holds it would take its answers from the wrong cassette. What a class
/// stands for is not kept alive here.
final class SessionProtocols: Sendable {
    static let shared = SessionProtocols()

    private struct Entry: Sendable {
        weak var session: AdaptedSession?
    }

    private struct Contents: Sendable {
        var count: UInt = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let contents = Guarded(Contents())

    /// A class for one more session.
    func add(_ session: AdaptedSession) -> LoadingProtocol.Type {
        self.contents.withLock { contents in
            contents.count += 1
            let type = SessionProtocol<BinaryNumber.Zero>.numbered(contents.count)
            contents.entries[ObjectIdentifier(type)] = Entry(session: session)
            return type
        }
    }

    /// Nil where there is none any more.
    func session(of type: LoadingProtocol.Type) -> AdaptedSession? {
        self.contents.withLock { $0.entries[ObjectIdentifier(type)]?.session }
    }
}
