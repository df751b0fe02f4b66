internal import CassetteModel
internal import TapeExchange
import TapeTestSupport
internal import Testing

@Suite struct WebSocketHandshakeTests {
    private static let lines = ["Host: a", "Connection: keep-alive, Upgrade", "Upgrade: WebSocket", "Sec-WebSocket-Version: 13"]
    private static let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="

    private func head(_ more: [String] = [key], without: Int? = nil, method: String = "GET") -> RequestHead {
        var lines = Self.lines
        if let without { lines.remove(at: without) }
        return RequestHead(method: method, target: "/", version: .http11, fields: HeaderFields(lines + more))
    }

    /// RFC 6455, 1.3.
    @Test func acceptIsThatOfTheStandard() {
        #expect(WebSocketHandshake.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func keysAreTakenByOurselves() throws {
        var generator = SeededGenerator(seed: 1)
        let keys = (0..<2).map { _ in WebSocketHandshake.key(using: &generator) }
        #expect(keys[0] != keys[1])
        for key in keys { #expect(try WebSocketRequest(self.head(["Sec-WebSocket-Key: \(key)"])).key == key) }
    }

    @Test func requestSaysWhatTheClientCanDo() throws {
        let request = try WebSocketRequest(
            self.head([
                Self.key, "Sec-WebSocket-Protocol: graphql-transport-ws, chat", "sec-websocket-protocol: soap",
                "Sec-WebSocket-Extensions: x;y",
            ]))
        #expect(request.protocols == ["graphql-transport-ws", "chat", "soap"])
        #expect(request.extensions == [WebSocketExtension("x", [.init("y")])])
        let extended = try WebSocketRequest(extendedConnect: HeaderFields(["sec-websocket-version: 13", "sec-websocket-protocol: chat"]))
        #expect(extended.key == nil && extended.protocols == ["chat"])
    }

    @Test func invalidRequestsAreRefusedWithTheReason() {
        let cases: [(RequestHead, Int, String)] = [
            (self.head(method: "POST"), 400, "GET"), (self.head(without: 1), 400, "Connection: Upgrade"),
            (self.head(without: 2), 400, "Upgrade"),
            (self.head([]), 400, "found none"), (self.head([Self.key, Self.key]), 400, "one Sec-WebSocket-Key"),
            (self.head(["Sec-WebSocket-Key: dGhl"]), 400, "16 bytes; found \"dGhl\""),
            (self.head(without: 3), 426, "Sec-WebSocket-Version: 13"),
            (self.head([Self.key, "Sec-WebSocket-Version: 8"]), 426, "\"13\", \"8\""),
            (self.head([Self.key, "Sec-WebSocket-Protocol: a b"]), 400, "\"a b\""),
            (self.head([Self.key, "Sec-WebSocket-Extensions: ;"]), 400, "Sec-WebSocket-Extensions"),
        ]
        for (head, status, reason) in cases {
            let refusal = #expect(throws: WebSocketRefusal.self) { try WebSocketRequest(head) }
            #expect(refusal?.status == status)
            #expect(refusal?.message.contains(reason) == true, "\(refusal?.message ?? "")")
            #expect(refusal?.names13 == (status == 426))
        }
    }

    @Test func onlyAnUpgradeToAWebSocketOpensIt() {
        #expect(WebSocketHandshake.isAsked(by: self.head([])))
        #expect(!WebSocketHandshake.isAsked(by: self.head(without: 1)))
        for (status, upgrade, isOpened) in [
            (101, "websocket", true), (101, "WebSocket", true), (101, "foo", false), (200, "websocket", false),
        ] {
            let head = ResponseHead(version: .http11, status: status, reason: [], fields: HeaderFields(["Upgrade: \(upgrade)"]))
            #expect(WebSocketHandshake.isOpened(by: head) == isOpened)
        }
    }

    private static let recordedOffer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
    private static let recorded = (
        request: HeaderFields([recordedOffer, "Sec-WebSocket-Protocol: chat, soap"]),
        answer: HeaderFields([
            "Server: x", "Upgrade: websocket", "Connection: Upgrade", "SEC-WebSocket-Accept: old", "Sec-WebSocket-Protocol: soap",
            "Sec-WebSocket-Extensions:permessage-deflate;client_max_window_bits=12", "Set-Cookie: a",
        ])
    )

    private func replayed(_ more: String...) throws -> (lines: [String], agreement: WebSocketAgreement) {
        let replayed = WebSocketHandshake.replayed(Self.recorded, to: try WebSocketRequest(self.head([Self.key] + more)))
        return (replayed.fields.lines, replayed.agreement)
    }

    @Test func sameOfferGetsTheRecordedAnswerWithItsOwnAccept() throws {
        let (lines, agreement) = try self.replayed(Self.recordedOffer, "Sec-WebSocket-Protocol: soap")
        #expect(
            lines == [
                "Server: x", "Upgrade: websocket", "Connection: Upgrade", "SEC-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
                "Sec-WebSocket-Protocol: soap",
                "Sec-WebSocket-Extensions:permessage-deflate;client_max_window_bits=12", "Set-Cookie: a",
            ])
        #expect(agreement == WebSocketAgreement(deflate: PerMessageDeflate(clientWindowBits: 12)))
    }

    @Test func otherOfferGetsWhatBothHave() throws {
        var (lines, agreement) = try self.replayed(
            "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover", "Sec-WebSocket-Protocol: other")
        #expect(
            lines == [
                "Server: x", "Upgrade: websocket", "Connection: Upgrade", "SEC-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
                "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover", "Set-Cookie: a",
            ])
        #expect(agreement == WebSocketAgreement(deflate: PerMessageDeflate(serverForgets: true)))
        (lines, agreement) = try self.replayed()
        #expect(!lines.contains { $0.hasPrefix("Sec-WebSocket-Extensions") })
        #expect(agreement == WebSocketAgreement())
    }

    @Test func extensionThatIsNotKnownIsNotReplayed() throws {
        let fields = HeaderFields(["Sec-WebSocket-Extensions: x-shout"])
        let request = try WebSocketRequest(self.head([Self.key, "Sec-WebSocket-Extensions: x-shout"]))
        let replayed = WebSocketHandshake.replayed((fields, fields), to: request)
        #expect(!replayed.fields.contains("sec-websocket-extensions"))
        #expect(replayed.agreement == WebSocketAgreement())
    }

    @Test func answerRecordedOverHTTP2IsWholeOverHTTP1() throws {
        let recorded = (request: HeaderFields(), answer: HeaderFields(["server: x"]))
        let replayed = WebSocketHandshake.replayed(recorded, to: try WebSocketRequest(self.head()))
        #expect(
            replayed.fields.lines == [
                "server: x", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            ])
    }

    @Test func answerOverHTTP2HasNoAccept() throws {
        let request = try WebSocketRequest(extendedConnect: HeaderFields(["sec-websocket-version: 13"]))
        #expect(!WebSocketHandshake.replayed(Self.recorded, to: request).fields.contains("sec-websocket-accept"))
    }
}
