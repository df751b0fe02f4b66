internal import Foundation
internal import TapeCore

/// Which class belongs to which session.
///
/// A class is never given to a second one: a session that still holds it would take its answers from the wrong cassette. What a session
/// holds on to is let go when its cassette is closed.
final class SessionProtocols: Sendable {
    static let shared = SessionProtocols()

    private struct Contents: Sendable {
        var count: UInt = 0
        var sessions: [ObjectIdentifier: AdaptedSession] = [:]
    }

    private let contents = Guarded(Contents())

    /// A class for one more session.
    func add(_ session: AdaptedSession) -> LoadingProtocol.Type {
        self.contents.withLock { contents in
            contents.count += 1
            let type = SessionProtocol<BinaryNumber.Zero>.numbered(contents.count)
            contents.sessions[ObjectIdentifier(type)] = session
            return type
        }
    }

    func session(of type: LoadingProtocol.Type) -> AdaptedSession? {
        self.contents.withLock { $0.sessions[ObjectIdentifier(type)] }
    }

    /// Whatever is asked of the cassette's sessions from now on fails, with this reason.
    func close(_ cassette: ObjectIdentifier, reason: String) {
        self.contents.withLock { contents in
            for (type, session) in contents.sessions where session.cassette == cassette {
                contents.sessions[type] = AdaptedSession(answers: .none(reason), configuration: session.configuration, cassette: nil)
            }
        }
    }
}
