import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// Asks each URL of its command line twice, GET and POST, and prints what comes: a client that has to be told its proxy and its roots.
///
/// Behind `wiretape record --` both are in the environment, under the names that curl and OpenSSL have made customary.
@main
enum PetsClient {
    static func main() async throws {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration(ProcessInfo.processInfo.environment))
        do {
            for url in CommandLine.arguments.dropFirst() {
                try await Self.show(HTTPClientRequest(url: url), by: client)
                var request = HTTPClientRequest(url: url)
                request.method = .POST
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(ByteBuffer(string: #"{"name": "보리"}"#))
                try await Self.show(request, by: client)
            }
        } catch {
            FileHandle.standardError.write(Data("PetsClient: \(error)\n".utf8))
            try await client.shutdown()
            exit(1)
        }
        try await client.shutdown()
    }

    private static func configuration(_ environment: [String: String]) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let proxy = environment["http_proxy"].flatMap(URLComponents.init(string:)), let host = proxy.host, let port = proxy.port {
            configuration.proxy = .server(host: host, port: port)
        }
        if let bundle = environment["SSL_CERT_FILE"] {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(bundle)
            configuration.tlsConfiguration = tls
        }
        return configuration
    }

    private static func show(_ request: HTTPClientRequest, by client: HTTPClient) async throws {
        let response = try await client.execute(request, timeout: .seconds(20))
        let body = try await response.body.collect(upTo: 1 << 20)
        print(response.status.code, String(buffer: body), terminator: "")
    }
}
