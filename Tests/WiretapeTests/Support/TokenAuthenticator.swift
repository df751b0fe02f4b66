import Foundation
import TapeBytes
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A bearer token that a test refreshes by hand.
final class TokenAuthenticator: HTTPSession.Authenticator {
    struct Token: HTTPSession.AuthenticationCredential, Hashable {
        var text: String
        var requiresRefresh = false
    }

    private struct State {
        var calls: [String] = []
        var open: [CheckedContinuation<Token, any Error>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())
    private let body: (@Sendable (Token) async throws -> Token)?

    /// - Parameter body: the refresh; without it, a refresh waits for `answer`.
    init(_ body: (@Sendable (Token) async throws -> Token)? = nil) { self.body = body }

    /// The tokens for which a refresh was requested, in order.
    var refreshes: [String] { self.state.withLock { $0.calls } }

    func apply(_ credential: Token, to request: inout URLRequest) {
        request.setValue("Bearer \(credential.text)", forHTTPHeaderField: "Authorization")
    }

    func refresh(_ credential: Token) async throws -> Token {
        if let body {
            self.state.withLock { $0.calls.append(credential.text) }
            return try await body(credential)
        }
        return try await withCheckedThrowingContinuation { continuation in
            let watchers = self.state.withLock { state in
                state.calls.append(credential.text)
                state.open.append(continuation)
                let count = state.calls.count
                defer { state.watchers.removeAll { $0.count <= count } }
                return state.watchers.filter { $0.count <= count }
            }
            for watcher in watchers { watcher.continuation.resume() }
        }
    }

    /// Ends the oldest refresh under way.
    func answer(_ result: Result<Token, any Error>) {
        let continuation = self.state.withLock { $0.open.isEmpty ? nil : $0.open.removeFirst() }
        continuation?.resume(with: result)
    }

    /// Returns as soon as `count` refreshes have begun.
    func begun(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLock { state in
                guard state.calls.count < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
