import Foundation
import TapeTestSupport
@testable import TapeProxy

/// A session server with its control API, on free ports and in a temporary folder.
final class RunningSessions {
    static let token = "a-token-for-these-tests"

    let folder: TemporaryFolder
    let server: SessionServer
    let control: ControlServer
    let notices = NoticeList()
    private var isStopped = false

    init(in folder: TemporaryFolder? = nil, loops: Int = 1, configure: (inout SessionServerConfiguration) -> Void = { _ in }) throws {
        self.folder = try folder ?? TemporaryFolder()
        var configuration = SessionServerConfiguration(folder: try CassetteFolder(self.folder.path), version: "1.2.3")
        configuration.limits.grace = 1
        configuration.limits.linger = 1
        configuration.loops = .own(loops)
        configure(&configuration)
        self.server = try SessionServer.start(configuration, notice: self.notices.add)
        do {
            self.control = try ControlServer.start(for: self.server, token: Secret(Self.token))
        } catch {
            _ = self.server.stop()
            throw error
        }
    }

    deinit { self.stop() }

    @discardableResult
    func stop() -> [SessionReport] {
        guard !self.isStopped else { return [] }
        self.isStopped = true
        self.control.stop()
        return self.server.stop()
    }

    static func port(_ address: String) -> Int { address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    var port: Int { Self.port(self.server.address) }
    var controlPort: Int { Self.port(self.control.address) }

    // MARK: Control

    /// Sends bytes to the control API and reads its answer to the end.
    func raw(_ request: String) throws -> String {
        let client = try RawConnection(port: self.controlPort)
        try client.send(request)
        return String(decoding: try client.readToEnd().bytes, as: UTF8.self)
    }

    /// A request to the control API, with its token and only the fields that it needs.
    func request(_ method: String, _ path: String, _ fields: String..., body: String = "") -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(self.control.address)", "Authorization: Bearer \(Self.token)"] + fields
        if !body.isEmpty { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// Asks the control API.
    ///
    /// - Returns: the status, and the body as Foundation reads it.
    func ask(_ method: String, _ path: String, body: String = "") throws -> (status: Int, body: [String: Any]) {
        let answer = try self.raw(self.request(method, path, body: body))
        guard let status = Int(answer.dropFirst(9).prefix(3)), let start = answer.range(of: "\r\n\r\n")?.upperBound,
            let object = try JSONSerialization.jsonObject(with: Data(answer[start...].utf8)) as? [String: Any]
        else { throw RawError("\(answer) is no answer of the control API") }
        return (status, object)
    }

    // MARK: Clients of a session

    /// Sends a request to the shared port as a client of a session, and reads the answer to its end.
    func get(_ url: String, as session: OpenSession, fields: [String] = []) throws -> String {
        try Self.get(url, credentials: "\(session.name):\(session.token.revealed)", port: self.port, fields: fields)
    }

    func get(_ url: String, credentials: String?, port: Int, fields: [String] = []) throws -> String {
        try Self.get(url, credentials: credentials, port: port, fields: fields)
    }

    static func get(_ url: String, credentials: String?, port: Int, fields: [String] = []) throws -> String {
        let client = try RawConnection(port: port)
        var lines = ["GET \(url) HTTP/1.1", "Host: ignored.test", "Connection: close"] + fields
        if let credentials { lines.append("Proxy-Authorization: Basic \(Data(credentials.utf8).base64EncodedString())") }
        try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return String(decoding: try client.readToEnd().bytes, as: UTF8.self)
    }

    /// The text of a cassette that holds one exchange: a URL and the body of its answer.
    static func cassette(_ url: String, _ body: String) -> [UInt8] {
        Array(
            """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2026-11-21T04:19:28.123456Z",
              "request": { "method": "GET", "url": "\(url)", "headers": ["Host: origin.test"] },
              "response": { "status": 200, "headers": ["Content-Length: \(body.utf8.count)"], "body": { "size": \(body.utf8.count), "text": "\(body)" } } } ] }
            """.utf8)
    }
}
