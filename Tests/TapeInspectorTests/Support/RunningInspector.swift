import CassetteModel
import Foundation
import LocalHTTP
import Platform
@testable import TapeInspector
import TapeTestSupport

/// An inspector of a cassette in a temporary folder that has read all of its rows.
final class RunningInspector {
    static let token = String(repeating: "ab", count: 32)

    let folder: TemporaryFolder
    let server: InspectorServer
    var path: String { self.folder.file("pets.json") }

    init(_ interactions: [Interaction] = [.sample(1), .sample(2, at: 5, "POST", "http://a/pets/2", status: 404)]) throws {
        self.folder = try TemporaryFolder()
        try RecordedExchanges.write(interactions, to: self.folder.file("pets.json"))
        self.server = try InspectorServer.start(InspectedCassette(path: self.folder.file("pets.json")), token: Secret(Self.token))
        _ = try self.state { $0.contains("\"rows\": \(interactions.count),") }
    }

    deinit { self.server.stop() }

    struct Answer {
        var status: Int
        var head: String
        var body: String
    }

    func ask(
        _ method: String = "GET", _ path: String, fields: [String] = [], body: String = "", host: String? = nil,
        token: String? = RunningInspector.token
    ) throws -> Answer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(self.server.port)")", "Connection: close"] + fields
        if let token { lines.append("Authorization: Bearer \(token)") }
        if !body.isEmpty { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return try self.answer(to: lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    func answer(to request: String) throws -> Answer {
        let connection = try Connection(port: self.server.port)
        try connection.send(request)
        let text = connection.readToEnd()
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        return Answer(status: Int(text.dropFirst(9).prefix(3)) ?? 0, head: String(parts[0]), body: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Asks again until the state is as wanted: a separate thread reads the rows.
    func state(until isWanted: (String) -> Bool) throws -> String {
        let feed = try Connection(port: self.server.port)
        try feed.send("GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:\(self.server.port)\r\nAuthorization: Bearer \(Self.token)\r\n\r\n")
        var text = ""
        while let more = feed.read() {
            text += more
            if isWanted(text) { return text }
        }
        throw TestProblem("the feed ended: \(text)")
    }
}

/// One end of a connection, with blocking calls that give up after two minutes.
final class Connection {
    private let descriptor: Int32

    init(port: Int) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw TestProblem("no connection to port \(port) (errno \(errno))") }
    }

    deinit { close(self.descriptor) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Platform.send(self.descriptor, $0.baseAddress.map { $0 + offset }, bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TestProblem("the peer takes nothing (errno \(errno))") }
            offset += count
        }
    }

    /// The next text; nil at the end, or if nothing arrives.
    func read() -> String? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(self.descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    func readToEnd() -> String {
        var text = ""
        while let more = self.read() { text += more }
        return text
    }
}
