import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

/// The values in a mitmproxy flow.
indirect enum TNet {
    case text(String), bytes([UInt8]), int(Int), double(Double), bool(Bool), nothing
    case list([TNet])
    case dictionary([(String, TNet)])

    var encoded: [UInt8] {
        func typed(_ data: [UInt8], _ type: String) -> [UInt8] { Array("\(data.count):".utf8) + data + Array(type.utf8) }
        switch self {
        case .text(let text): return typed(Array(text.utf8), ";")
        case .bytes(let bytes): return typed(bytes, ",")
        case .int(let value): return typed(Array("\(value)".utf8), "#")
        case .double(let value): return typed(Array("\(value)".utf8), "^")
        case .bool(let value): return typed(Array("\(value)".utf8), "!")
        case .nothing: return typed([], "~")
        case .list(let list): return typed(list.flatMap(\.encoded), "]")
        case .dictionary(let members): return typed(members.flatMap { TNet.text($0.0).encoded + $0.1.encoded }, "}")
        }
    }

    static func fields(_ fields: [(String, String)]) -> TNet {
        .list(fields.map { .list([.bytes(Array($0.0.utf8)), .bytes(Array($0.1.utf8))]) })
    }
}

@Suite struct FlowReaderTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    @Test func aFlowOfTooManyValuesIsRefused() throws {
        let nothing = Array("0:~".utf8)
        let list = Array(repeatElement(nothing, count: 1000).joined())
        let path = try self.importing.folder.write(Array("\(list.count):".utf8) + list + Array("]".utf8), to: "x.flow")
        let context = ImportContext(file: path, losses: ImportLosses(), options: ImportOptions())
        let failure = #expect(throws: CassetteError.self) { try TNetStrings(SourceFile(path), context, countLimit: 1000).next() }
        #expect(failure?.code == .tooLarge)
    }

    private func flow(
        path: String = "/pets", answer: [(String, TNet)]? = nil, more: [(String, TNet)] = [],
        fields: [(String, String)] = [("Host", "a.test")]
    ) -> TNet {
        let request: [(String, TNet)] = [
            ("method", .bytes(Array("GET".utf8))), ("scheme", .bytes(Array("http".utf8))), ("host", .text("a.test")), ("port", .int(8080)),
            ("authority", .bytes([])), ("path", .bytes(Array(path.utf8))), ("http_version", .bytes(Array("HTTP/1.1".utf8))),
            ("headers", TNet.fields(fields)), ("content", .bytes([])), ("trailers", .nothing),
            ("timestamp_start", .double(1_700_000_000.25)),
            ("timestamp_end", .double(1_700_000_000.5)),
        ]
        let response: [(String, TNet)] =
            answer ?? [
                ("status_code", .int(200)), ("reason", .bytes(Array("OK".utf8))), ("http_version", .bytes(Array("HTTP/1.1".utf8))),
                ("headers", TNet.fields([("Content-Encoding", "gzip"), ("X-A", "1"), ("x-a", "2")])),
                ("content", .bytes(Base64.decode(Array("H4sIAAAAAAAAA8vIBACsKpPYAgAAAA==".utf8)) ?? [])),
                ("timestamp_start", .double(1_700_000_001)),
                ("timestamp_end", .double(1_700_000_001.5)),
            ]
        let server: [(String, TNet)] = [
            ("id", .text("c1")), ("peername", .list([.text("10.0.0.1"), .int(8080)])), ("timestamp_start", .double(1_700_000_000.5)),
            ("timestamp_tcp_setup", .double(1_700_000_000.75)), ("timestamp_tls_setup", .nothing),
        ]
        return .dictionary(
            [
                ("version", .int(21)), ("type", .text("http")), ("request", .dictionary(request)), ("response", .dictionary(response)),
                ("server_conn", .dictionary(server)),
            ] + more)
    }

    @Test func aFlowIsExact() throws {
        let (report, exchanges) = try self.importing.run(bytes: self.flow().encoded + self.flow(path: "/2").encoded, as: "flows")
        #expect(report.sources[0].kind == .mitmproxy && report.losses.isEmpty, "\(report.losses)")
        let exchange = exchanges[0]
        #expect(exchange.request.url == "http://a.test:8080/pets" && exchange.request.body == nil)
        #expect(exchange.response?.headers.lines == ["Content-Encoding: gzip", "X-A: 1", "x-a: 2"])
        #expect(exchange.response?.body?.content == .text(Array("hi".utf8)))
        #expect(exchange.timing == Timing(connect: 250, send: 250, wait: 250, receive: 500, total: 1250))
        #expect(exchange.connection == ConnectionInfo(id: 1, remote: "10.0.0.1:8080", isReused: false))
        #expect(exchanges[1].connection?.isReused == true && exchanges[1].timing.connect == nil)
    }

    @Test func messagesOfAWebSocketHaveTheirTimes() throws {
        let message: [TNet] = [.int(1), .bool(true), .bytes(Array("hi".utf8)), .double(1_700_000_002), .bool(false), .bool(false)]
        let dropped: [TNet] = [.int(1), .bool(true), .bytes(Array("no".utf8)), .double(1_700_000_002), .bool(true), .bool(false)]
        let socket: [(String, TNet)] = [
            ("messages", .list([.list(message), .list(dropped)])), ("close_code", .int(1000)), ("closed_by_client", .bool(false)),
            ("timestamp_end", .double(1_700_000_003)),
        ]
        let answer: [(String, TNet)] = [
            ("status_code", .int(101)), ("reason", .bytes([])), ("http_version", .bytes(Array("HTTP/1.1".utf8))),
            ("headers", TNet.fields([("Upgrade", "websocket")])), ("content", .bytes([])),
        ]
        let flow = self.flow(answer: answer, more: [("websocket", .dictionary(socket))])
        let exchange = try self.importing.run(bytes: flow.encoded, as: "flows").interactions[0]
        guard case .inline(let messages)? = exchange.webSocket else { throw TestProblem("no messages") }
        #expect(messages.map(\.at) == [1750, 2750] && messages[0].from == .client)
        #expect(messages[1].content == .close(WebSocketClose(code: 1000)))
    }

    @Test func anErrorIsAFailureOrACut() throws {
        let error: [(String, TNet)] = [("error", .dictionary([("msg", .text("Client disconnected.")), ("timestamp", .double(1))]))]
        let cut = try self.importing.run(bytes: self.flow(more: error).encoded, as: "flows").interactions[0]
        #expect(cut.outcome == .cut(Cut(by: .client, reason: "Client disconnected.")))
    }

    @Test(arguments: ["12", "5:a", "4:ab}", "9999999999999:", "99999999999:x", "3:1:a}", "10:3:key;1:a?}"])
    func aDamagedFlowIsReportedWithItsOffset(_ text: String) throws {
        let message = try self.importing.failure(text, as: "flows") { $0.kind = .mitmproxy }
        #expect(message.contains("byte 0") && message.contains("flows"), "\(message)")
    }
}
