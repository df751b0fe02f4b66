internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The transport of one configuration.
///
/// Lives as long as the configuration, its copies and their sessions, which hold it.
final class AdaptedSession: Sendable {
    /// The key under which `connectionProxyDictionary` holds it. The dictionary is free, since an intercepted session uses no proxy.
    private static let key = "WiretapeSession"

    let transport: any Transport
    /// Whether it may be started on the queue that all URL sessions of the process share. It must then never block or use a `URLSession`.
    let isInPlace: Bool
    private let copy: URLSessionConfiguration
    // SAFETY: set once, before the object is shared; reading a weak reference is atomic.
    private nonisolated(unsafe) weak var original: URLSessionConfiguration?

    /// Adds itself to a configuration.
    init(_ transport: any Transport, isInPlace: Bool, configuration: URLSessionConfiguration) {
        (self.transport, self.isInPlace) = (transport, isInPlace)
        self.copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        self.original = configuration
        configuration.connectionProxyDictionary = (configuration.connectionProxyDictionary ?? [:]).merging([Self.key: self]) { $1 }
    }

    /// The user's configuration with later changes, or the copy made at the start if it was released.
    var configuration: URLSessionConfiguration { self.original ?? self.copy }
}

/// The table from protocol classes to sessions.
///
/// A class is never used twice: a `URLSession` that still holds it would get responses from the wrong cassette. Holds sessions weakly.
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

    /// - Returns: a new class for the session.
    func add(_ session: AdaptedSession) -> LoadingProtocol.Type {
        self.contents.withLock { contents in
            contents.count += 1
            let type = SessionProtocol<BinaryNumber.Zero>.numbered(contents.count)
            contents.entries[ObjectIdentifier(type)] = Entry(session: session)
            return type
        }
    }

    /// Nil if the session was released.
    func session(of type: LoadingProtocol.Type) -> AdaptedSession? {
        self.contents.withLock { $0.entries[ObjectIdentifier(type)]?.session }
    }
}

/// The `URLProtocol` class of one configuration. It identifies the session that a request belongs to, so that requests need no mark.
final class SessionProtocol<Number: BinaryNumber.Digits>: LoadingProtocol {
    /// The class for this number. Classes are never freed; each takes about 900 bytes.
    static func numbered(_ number: UInt) -> LoadingProtocol.Type where Number == BinaryNumber.Zero {
        func open<Other: BinaryNumber.Digits>(_: Other.Type) -> LoadingProtocol.Type { SessionProtocol<Other>.self }
        return open(BinaryNumber.type(of: number))
    }
}

/// Natural numbers as types, so that a generic class can have any number of specializations at run time.
enum BinaryNumber {
    protocol Digits {}
    enum Zero: Digits {}
    /// Twice the number.
    enum Even<Half: Digits>: Digits {}
    /// Twice the number and one.
    enum Odd<Half: Digits>: Digits {}

    /// The type for a number; no other number has the same type.
    static func type(of number: UInt) -> any Digits.Type {
        guard number > 0 else { return Zero.self }
        let half = self.type(of: number / 2)
        return number.isMultiple(of: 2) ? self.even(half) : self.odd(half)
    }

    private static func even<Half: Digits>(_: Half.Type) -> any Digits.Type { Even<Half>.self }
    private static func odd<Half: Digits>(_: Half.Type) -> any Digits.Type { Odd<Half>.self }
}
