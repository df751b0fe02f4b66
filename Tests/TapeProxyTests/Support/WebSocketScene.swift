import CassetteModel
import CassettePlayback
import CassetteStore
import TapeBytes
import TapeExchange
import TapeTestSupport

@testable import TapeProxy

/// A client of replayed WebSockets in memory. The messages that it gets form a transcript. Not Sendable: belongs to one test.
final class WebSocketScene {
    let scene: ExchangeScene
    let session: CassetteSession
    private let folder: TemporaryFolder
    private let cassette: RecordedCassette
    private var writer = WebSocketWriter(.client)
    private var reader: WebSocketReader?
    private var head: [UInt8] = []
    private var isOpen = false
    /// Bytes that were received as frames.
    private(set) var received = 0

    /// A recorded conversation, given by the lines of its messages.
    struct Talk {
        var messages: [String]
        var outcome: String?
        var answer: [String] = []
        var asked: [String] = []
        /// The time until the 101, in milliseconds.
        var wait = 0
        var total = 1000

        init(
            _ messages: String..., outcome: String? = nil, answer: [String] = [], asked: [String] = [], wait: Int = 0, total: Int = 1000
        ) {
            self.messages = messages
            self.outcome = outcome
            self.answer = answer
            self.asked = asked
            self.wait = wait
            self.total = total
        }

        func members(_ number: Int) -> String {
            func list(_ lines: [String]) -> String { lines.map { ", \"\($0)\"" }.joined() }
            return """
                { "id": \(number + 1), "started": "2026-11-21T04:00:\(10 + number).000000Z",
                  "request": { "method": "GET", "url": "http://h.test/talk", "version": "HTTP/1.1",
                    "headers": ["Host: h.test", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"\(list(self.asked))] },
                  "response": { "status": 101, "reason": "Switching Protocols", "version": "HTTP/1.1",
                    "headers": ["Upgrade: websocket", "Connection: Upgrade"\(list(self.answer))] },
                  "webSocket": [\(self.messages.joined(separator: ",\n    "))],
                  \(self.outcome.map { "\"outcome\": \($0), " } ?? "")"timing": { "send": 0, "wait": \(self.wait), "total": \(self.total) } }
                """
        }
    }

    static let cutByOrigin = #"{ "cut": "origin", "reason": "gone" }"#
    static let cutByClient = #"{ "cut": "client", "reason": "gone" }"#

    /// - Parameter files: files next to the cassette, by their names; see `file`.
    init(
        _ mode: RecordMode = .none, _ talks: Talk..., files: [String: [UInt8]] = [:], rules: MatchRules? = nil,
        repetition: Repetition = .never,
        conversationOrder: ConversationOrder = .strict, configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws {
        self.folder = try TemporaryFolder()
        let list = talks.enumerated().map { $1.members($0) }.joined(separator: ",\n")
        try self.folder.write(Array("{\n\"wiretape\": 2,\n\"interactions\": [\n\(list)\n]\n}\n".utf8), to: "tape.json")
        for (name, bytes) in files { try self.folder.write(bytes, to: "tape.bodies/\(name)") }
        self.cassette = try RecordedCassette(path: self.folder.file("tape.json"))
        self.session = try CassetteSession(
            mode: mode, cassette: self.cassette, rules: rules, repetition: repetition, conversationOrder: conversationOrder)
        self.scene = try ExchangeScene(self.session, cassette: self.cassette, configure: configure)
        self.scene.told = { [weak self] in self?.told($0) ?? [] }
    }

    /// The members of a message whose payload is in a file.
    static func file(_ name: String, _ bytes: [UInt8]) -> String {
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return
            "\"file\": \"tape.bodies/\(name)\", \"size\": \(bytes.count), \"fileSha256\": \"\(digest.finalize().map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }.joined())\""
    }

    // MARK: The client

    /// Asks for the WebSocket, on a new connection if it is not the first.
    func open(_ lines: String..., isFirst: Bool = true) {
        if !isFirst { self.scene.connect() }
        self.head = []
        self.isOpen = false
        self.writer = WebSocketWriter(.client)
        let fields =
            ["Host: h.test", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"] + [
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
            ] + lines
        self.offer = HeaderFields(fields)
        self.scene.client("GET http://h.test/talk HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    private var offer = HeaderFields()

    func says(_ texts: String...) { self.scene.client(texts.flatMap { self.frames(text: $0) }) }

    func closes(_ code: Int? = 1000, _ reason: String = "") { self.scene.client(self.closing(code, reason)) }

    func frames(text: String, isDeflated: Bool = false) -> [UInt8] {
        var output: [UInt8] = []
        Array(text.utf8).withUnsafeBytes { self.writer.message(true, $0, isDeflated: isDeflated, to: &output) }
        return output
    }

    func closing(_ code: Int? = 1000, _ reason: String = "") -> [UInt8] {
        var output: [UInt8] = []
        self.writer.close(code, reason: reason, to: &output)
        return output
    }

    func frame(ping text: String) -> [UInt8] {
        var output: [UInt8] = []
        self.writer.control(true, Array(text.utf8), to: &output)
        return output
    }

    func pings(_ text: String) { self.scene.client(self.frame(ping: text)) }

    /// The messages since the last call.
    func heard() -> [String] { self.scene.heard().map { $0.hasPrefix("client < ") ? String($0.dropFirst("client < ".count)) : $0 } }

    /// The received part of an incomplete message; nil if there is none.
    func unfinished() -> String? { self.reader?.ended().map { String(decoding: $0.bytes, as: UTF8.self) } }

    var verdict: Verdict { self.session.verdict() }

    var report: ReplayReport { self.session.report(name: "tape.json", cassette: self.cassette) }

    private func told(_ bytes: [UInt8]) -> [String] {
        guard !self.isOpen else { return self.messages(bytes) }
        self.head += bytes
        let text = String(decoding: self.head, as: UTF8.self)
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }.map(String.init)
        guard text.hasPrefix("HTTP/1.1 101 ") else { return [text.replacing("\r\n", with: "|")] }
        let agreement = WebSocketAgreement(offer: self.offer, answer: HeaderFields(Array(lines.dropFirst())))
        self.isOpen = true
        self.reader = WebSocketReader(.server, stand: .watcher, agreement: agreement)
        self.writer = WebSocketWriter(.client, agreement: agreement)
        let chosen = lines.filter { $0.hasPrefix("Sec-WebSocket-Protocol") || $0.hasPrefix("Sec-WebSocket-Extensions") }
        let size = lines.reduce(2) { $0 + $1.utf8.count + 2 }
        return ["101" + chosen.map { " \($0)" }.joined()] + self.messages(Array(self.head.dropFirst(size)))
    }

    private func messages(_ bytes: [UInt8]) -> [String] {
        self.received += bytes.count
        var lines: [String] = []
        bytes.withUnsafeBytes { bytes in
            self.reader?.read(bytes) { event in
                switch event {
                case .block: break
                case .message(let message):
                    let text = String(decoding: message.bytes, as: UTF8.self)
                    switch message.kind {
                    case .text where message.size > 100: lines.append("text of \(message.size)")
                    case .text: lines.append((message.isDeflated ? "deflated " : "") + "text \(text)")
                    case .binary: lines.append("binary of \(message.size)")
                    case .ping: lines.append("ping \(text)")
                    case .pong: lines.append("pong \(text)")
                    case .close:
                        let close = WebSocketClose(payload: message.bytes)
                        let reason = String(decoding: close.reason, as: UTF8.self)
                        lines.append("close \(close.code.map { "\($0)" } ?? "without code")\(reason.isEmpty ? "" : " \(reason)")")
                    }
                case .failed(let problem): lines.append("no WebSocket: \(problem.message)")
                }
            }
        }
        return lines
    }
}
