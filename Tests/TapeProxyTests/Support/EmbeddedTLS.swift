import NIOCore
import NIOEmbedded
@testable import TapeProxy
@testable import TapeTLS

/// Two `TLSHandler`s on embedded channels. The test carries the bytes between them.
final class EmbeddedTLS {
    let client: EmbeddedTLSEnd
    let server: EmbeddedTLSEnd

    /// A client that trusts the server.
    convenience init(maximum: TLSVersion = .tls13, protocols: [String] = ["http/1.1"], serverName: String? = "example.test") throws {
        let authority = try TestAuthority()
        let client = try TLSClient(trusting: authority, maximum: maximum)
        try self.init(
            client: client.connection(serverName: serverName, protocols: protocols), leaf: try authority.leaf(for: ["example.test"]))
    }

    /// - Parameter leaf: the server's answer to every hello, in the same turn; nil makes the client wait.
    init(client: consuming TLSConnection, leaf: Leaf?) throws {
        let context = try TLSServerContext()
        self.server = try EmbeddedTLSEnd(TLSHandler(try TLSConnection(server: context), isClient: false), leaf: leaf)
        self.client = try EmbeddedTLSEnd(TLSHandler(client, isClient: true), leaf: nil)
    }

    /// Carries bytes until neither side has any more.
    ///
    /// - Parameter size: how many bytes arrive at once.
    func run(size: Int = .max) throws {
        while try self.client.deliver(to: self.server, size: size) || self.server.deliver(to: self.client, size: size) {}
    }
}
