#if AsyncHTTPClient
internal import NIOCore
internal import NIOSSL
internal import TapeBytes
internal import TapeTrust

/// Closes a connection before a request is sent on it if the server has none of the pinned keys.
struct PinnedKeys: Sendable {
    private let pins: [PublicKeyPin]

    init(_ pins: [PublicKeyPin]) { self.pins = pins }

    /// The server has none of the pinned keys, or no certificate at all.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture(withResultOf: { try self.compare(channel) }).flatMapErrorThrowing { error in
            channel.close(mode: .all, promise: nil)
            throw error
        }
    }

    private func compare(_ channel: any Channel) throws {
        // A plain-text connection has no key, so nothing is checked.
        guard let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self) else { return }
        guard let certificate = tls.peerCertificate else { throw Mismatch(description: "the server has shown no certificate") }
        var digest = PortableSHA256()
        let key = try certificate.extractPublicKey().toSPKIBytes()
        key.withUnsafeBytes { digest.update($0) }
        let found = digest.finalize()
        guard !self.pins.contains(where: { $0.digest == found }) else { return }
        let shown = PublicKeyPin(digest: found).map(\.description) ?? ""
        throw Mismatch(
            description:
                "the server's key \(shown) is none of the pinned ones: add it if the server has a new key, or look who answers there")
    }
}
#endif
