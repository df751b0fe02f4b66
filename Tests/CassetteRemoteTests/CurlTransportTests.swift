import TapeBytes
import Testing

@testable import CassetteRemote

/// The real transport against a server that misbehaves.
struct CurlTransportTests {
    private static func client(_ server: ScriptedServer, tries: Int = 1) throws -> StoreClient {
        let settings = try StoreSettings(
            address: StoreAddress("s3://bucket"), endpoint: "http://127.0.0.1:\(server.port)", region: nil, usesPathStyle: true)
        return StoreClient(
            settings, credentials: Credentials(accessKey: "KEY", secretKey: "hush", sessionToken: "token"),
            retries: RetryPolicy(tries: tries, pause: { _ in }))
    }

    private static func answer(_ status: String, _ body: String = "", length: Int? = nil, fields: String = "") -> (
        pieces: [String], isEndless: Bool
    ) {
        (["HTTP/1.1 \(status)\r\nContent-Length: \(length ?? body.utf8.count)\r\n\(fields)Connection: close\r\n\r\n", body], false)
    }

    @Test func signedRequestCarriesNoSecret() throws {
        let server = try ScriptedServer([Self.answer("200 OK", "hello")])
        #expect(try Self.client(server).bytes("objects/a b", limit: 10) == Array("hello".utf8))
        let head = try #require(server.requests.first)
        #expect(head.hasPrefix("GET /bucket/objects/a%20b HTTP/1.1\r\n"))
        #expect(head.contains("authorization: AWS4-HMAC-SHA256 Credential=KEY/"))
        #expect(head.contains("x-amz-security-token: token"))
        #expect(!head.contains("hush"))
    }

    /// The other server would get the session's token.
    @Test func redirectIsNotFollowed() throws {
        let target = try ScriptedServer([Self.answer("200 OK", "stolen")])
        let server = try ScriptedServer([Self.answer("307 Temporary Redirect", fields: "Location: http://127.0.0.1:\(target.port)/\r\n")])
        let error = #expect(throws: StoreError.self) { try Self.client(server).bytes("objects/a", limit: 100) }
        #expect(error?.code == .refused)
        #expect(target.requests.isEmpty)
    }

    @Test func endlessBodyCostsItsLimit() throws {
        let server = try ScriptedServer([(["HTTP/1.1 200 OK\r\n\r\n", String(repeating: "x", count: 10_000)], true)])
        var received = 0
        let error = #expect(throws: StoreError.self) {
            _ = try Self.client(server).get("objects/a", limit: 50_000, begin: { () throws(StoreError) in received = 0 }) {
                (piece) throws(StoreError) in received += piece.count
            }
        }
        #expect(error?.code == .damaged)
        #expect(received <= 50_000)
    }

    @Test func endlessHeaderIsRefused() throws {
        let server = try ScriptedServer([(["HTTP/1.1 200 OK\r\n", "X-Field: \(String(repeating: "y", count: 200))\r\n"], true)])
        let error = #expect(throws: StoreError.self) { try Self.client(server).bytes("objects/a", limit: 10) }
        #expect(error?.code == .damaged || error?.code == .unreachable)
    }

    @Test func endlessErrorTextIsRefused() throws {
        let server = try ScriptedServer([(["HTTP/1.1 403 Forbidden\r\n\r\n", String(repeating: "x", count: 10_000)], true)])
        #expect(throws: StoreError.self) { try Self.client(server).bytes("objects/a", limit: 10) }
    }

    @Test func tornAnswerIsAskedForAgain() throws {
        let server = try ScriptedServer([Self.answer("200 OK", "hel", length: 5), Self.answer("200 OK", "hello")])
        #expect(try Self.client(server, tries: 2).bytes("objects/a", limit: 10) == Array("hello".utf8))
        #expect(server.requests.count == 2)
    }

    @Test func tornAnswerIsNeverAnObject() throws {
        let server = try ScriptedServer([Self.answer("200 OK", "hel", length: 5)])
        let error = #expect(throws: StoreError.self) { try Self.client(server).bytes("objects/a", limit: 10) }
        #expect(error?.code == .unreachable)
    }

    @Test func serverThatIsNotThereIsNamed() throws {
        let port = try ScriptedServer([Self.answer("200 OK")]).port
        let settings = try StoreSettings(
            address: StoreAddress("s3://bucket"), endpoint: "http://127.0.0.1:\(port == 1 ? 2 : 1)", region: nil, usesPathStyle: true)
        let client = StoreClient(
            settings, credentials: Credentials(accessKey: "KEY", secretKey: "hush"), retries: RetryPolicy(tries: 6, pause: { _ in }))
        let error = try #require(throws: StoreError.self) { try client.head("objects/a") }
        #expect(error.code == .unreachable)
        #expect(error.message.contains("127.0.0.1"))
        #expect(client.requestCount == 3)
    }

    @Test func uploadSendsDigestsAndIsRepeatedFromItsStart() throws {
        let server = try ScriptedServer([Self.answer("503 Slow Down"), Self.answer("200 OK")])
        #expect(try Self.client(server, tries: 3).put("objects/a", Payload(Array("hello".utf8)), type: "text/plain") == .stored)
        let head = try #require(server.requests.last)
        #expect(head.contains("x-amz-content-sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"))
        #expect(head.contains("content-md5: XUFAKrxLKna5cZ2REBfFkg=="))
        #expect(head.contains("if-none-match: *") && head.contains("Content-Length: 5"))
        #expect(!head.contains("Expect"))
    }
}
