import CassetteStore
import TapeTLS
import TapeTestSupport
@testable import TapeProxy

/// The parts of a TLS test: the proxy's authority, one for origins that the proxy trusts, and a client that trusts only the proxy's.
final class TLSScene {
    let authority: TestAuthority
    let origins: TestAuthority
    let client: TLSClient
    private let folder: TemporaryFolder

    init(maximum: TLSVersion = .tls13) throws {
        self.authority = try TestAuthority()
        self.origins = try TestAuthority()
        self.client = try TLSClient(trusting: self.authority, maximum: maximum)
        self.folder = try TemporaryFolder()
        try self.folder.write(self.origins.certificatePEM, to: "origins.pem")
    }

    /// Makes a proxy intercept TLS.
    func configure(_ configuration: inout ProxyConfiguration) {
        var settings = self.authority.settings
        settings.upstreamRoots = [self.folder.file("origins.pem")]
        configuration.tls = settings
    }

    func proxy(
        _ mode: RecordMode = .all, in folder: TemporaryFolder? = nil, configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws -> RunningProxy {
        try RunningProxy(mode, in: folder) { configuration in
            self.configure(&configuration)
            configure(&configuration)
        }
    }

    /// An origin with a valid certificate.
    func origin(_ names: String..., maximum: TLSVersion = .tls13, protocols: [String] = ["http/1.1"]) throws -> TLSOrigin {
        try TLSOrigin(self.origins.leaf(for: names.isEmpty ? ["example.test"] : names), maximum: maximum, protocols: protocols)
    }

    /// A folder with an empty cassette, so that a session consults it before it dials.
    func emptyCassette() throws -> TemporaryFolder {
        let proxy = try RunningProxy()
        try proxy.stop()
        return proxy.folder
    }

    // MARK: Clients

    /// Asks a proxy for a tunnel, and expects success.
    static func tunnel(_ connection: RawConnection, to authority: String) throws {
        try connection.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        try connection.expect("HTTP/1.1 200 Connection established\r\n\r\n")
    }

    /// A tunnel with TLS inside, after the handshake.
    func secure(
        _ connection: RawConnection, to authority: String, serverName: String? = "example.test", protocols: [String] = ["http/1.1"]
    ) throws -> TLSStream {
        try Self.tunnel(connection, to: authority)
        let host = serverName ?? String(authority.prefix { $0 != ":" })
        let stream = try self.client.stream(over: connection, host: host, serverName: serverName, protocols: protocols)
        try stream.handshake()
        return stream
    }

    /// A request in the form in which it is sent inside a tunnel.
    static func request(
        _ method: String = "GET", _ path: String = "/", _ fields: String..., host: String = "example.test", version: String = "1.1",
        body: String = ""
    ) -> String {
        (["\(method) \(path) HTTP/\(version)", "Host: \(host)"] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// An answer with a length.
    static func answer(_ body: String, _ fields: String...) -> String {
        (["HTTP/1.1 200 OK", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
