import CassetteFormat
import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct InteractionRowReaderTests {
    private func row(_ interaction: Interaction) -> InteractionRow? {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes.withUnsafeBytes { InteractionRowReader.read($0) }
    }

    @Test func aRowSaysWhatTheExchangeSays() throws {
        var interaction = Interaction.sample(
            7, at: 5, "POST", "http://a/pets?page=\u{1F431}", status: 404, type: "text/plain; charset=utf-8",
            body: Body(size: 6, content: .text(Array("{{a:1}}".utf8))),
            timing: Timing(dns: 0.5, connect: 1, send: 0.25, wait: 20, receive: 3, total: 25))
        interaction.request.version = .http10
        interaction.request.headers.append(name: "content-type", value: " application/json ")
        interaction.request.body = Body(size: 2, content: .json(Array("{}".utf8), style: .compact))
        interaction.connection = ConnectionInfo(
            id: 1, remote: "127.0.0.1:9000", isReused: false, tls: TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384"))
        let row = try #require(self.row(interaction))
        #expect(row.id == 7 && row.started == interaction.started && row.method == "POST" && row.url == interaction.request.url)
        #expect(row.status == 404 && row.requestVersion == .http10 && row.responseVersion == .http11)
        #expect(row.requestType == "application/json" && row.responseType == "text/plain; charset=utf-8")
        #expect(row.requestSize == 2 && row.responseSize == 6 && row.hasPlaceholder && row.hasHost && !row.isUnusual)
        #expect(row.timing == interaction.timing && row.remote == "127.0.0.1:9000" && row.tls == "TLSv1.3" && row.outcome == .complete)
    }

    @Test func contentOfBodiesIsNotReadAsMembers() throws {
        let trap = #"{"size":99,"status":500,"response":{"status":1},"headers":["Content-Type: a/b"],"count":3,"method":"X"}"#
        var interaction = Interaction.sample(body: Body(size: 4, content: .json(Array(trap.utf8), style: .compact)))
        interaction.request.body = Body(size: 5, content: .text(Array(trap.utf8)))
        let row = try #require(self.row(interaction))
        #expect(row.status == 200 && row.method == "GET" && row.responseSize == 4 && row.requestSize == 5)
        #expect(row.responseType == "application/json" && row.requestType == nil && row.messages == nil)
    }

    @Test func outcomesKeepTheirKinds() throws {
        for party in Cut.Party.allCases {
            #expect(self.row(.sample(outcome: .cut(Cut(by: party, reason: "x"))))?.outcome == .cut(party))
        }
        for kind in Failure.Kind.allCases {
            let row = self.row(.sample(status: nil, outcome: .failed(Failure(kind: kind, message: "x"))))
            #expect(row?.outcome == .failed(kind) && row?.status == nil)
        }
    }

    @Test func messagesOfAWebSocketAreCounted() throws {
        var interaction = Interaction.sample(status: 101)
        interaction.response?.headers.append(name: "Upgrade", value: "WebSocket")
        #expect(self.row(interaction)?.isWebSocket == true)
        #expect(self.row(interaction)?.messages == nil)
        let text = WebSocketMessage(at: 1, from: .client, content: .text(.json(Array(#"{"a":{"b":1}}"#.utf8), style: .compact)))
        interaction.webSocket = .inline([text, WebSocketMessage(at: 2, from: .server, content: .ping([]))])
        #expect(self.row(interaction)?.messages == 2)
        let payload = Sidecar(path: "a.bodies/x.txt", size: 4711, sha256: String(repeating: "a", count: 64))
        interaction.webSocket = .inline([WebSocketMessage(at: 1, from: .server, content: .text(.file(payload)))])
        #expect(self.row(interaction)?.responseSize == nil, "the size of a message is not that of the body")
        interaction.webSocket = .file(Sidecar(path: "a.bodies/x.jsonl", size: 9, sha256: String(repeating: "a", count: 64)), count: 4711)
        #expect(self.row(interaction)?.messages == 4711)
    }

    @Test func rowThatCannotShowEverythingIsMarkedUnusual() throws {
        for line in ["host: A", "Host: a:81", "Host: aa", "Host: "] {
            var interaction = Interaction.sample()
            interaction.request.headers = HeaderFields([line])
            #expect(self.row(interaction)?.isUnusual == true, "\(line)")
        }
        var twice = Interaction.sample()
        twice.response?.headers.append(name: "Content-Type", value: "text/html")
        #expect(self.row(twice)?.isUnusual == true)
        var none = Interaction.sample()
        none.request.headers = HeaderFields()
        #expect(self.row(none)?.isUnusual == false && self.row(none)?.hasHost == false)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"id":1}"#, #"{"id":1,"started":"2026-11-21T04:19:28.123456Z","request":{"url":"http://a/"}}"#,
    ])
    func textWithoutARequiredMemberIsNoRow(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { InteractionRowReader.read($0) } == nil)
    }
}
