internal import CassetteModel
internal import TapeExchange
internal import Testing

@Suite struct WebSocketExtensionTests {
    private func list(_ lines: String...) -> [WebSocketExtension]? {
        WebSocketExtension.list(in: HeaderFields(lines.map { "Sec-WebSocket-Extensions: \($0)" }))
    }

    @Test func listsOfAllFieldsAreInOrder() {
        #expect(self.list() == [])
        #expect(self.list("", " , ") == [])
        #expect(
            self.list("permessage-deflate; Client_Max_Window_Bits , x;a=B;b = \"c\\d\" ;e", "y") == [
                WebSocketExtension("permessage-deflate", [.init("client_max_window_bits")]),
                WebSocketExtension("x", [.init("a", "B"), .init("b", "cd"), .init("e")]), WebSocketExtension("y"),
            ])
    }

    @Test(arguments: ["a b", "a;", "a;=b", "a;b=", "a;b=\"", "a;b=\"\"", "a;b=\"c d\"", "a;b=\"c\\", "a=b", ";a", "a,;b", "a;b=c d"])
    func invalidListIsNil(_ value: String) {
        #expect(self.list(value) == nil)
    }
}

@Suite struct PerMessageDeflateTests {
    private func extensions(_ value: String) throws -> [WebSocketExtension] {
        try #require(WebSocketExtension.list(in: HeaderFields(["Sec-WebSocket-Extensions: \(value)"])))
    }

    private func agreed(_ answer: String, offer: String = "permessage-deflate; client_max_window_bits, x") -> WebSocketAgreement {
        WebSocketAgreement(
            offer: HeaderFields(["Sec-WebSocket-Extensions: \(offer)"]),
            answer: answer.isEmpty ? HeaderFields() : HeaderFields(["Sec-WebSocket-Extensions: \(answer)"]))
    }

    @Test func answerSaysWhatHolds() {
        #expect(self.agreed("") == WebSocketAgreement())
        #expect(self.agreed("permessage-deflate") == WebSocketAgreement(deflate: PerMessageDeflate()))
        let all = "server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10; client_max_window_bits=\"8\""
        #expect(
            self.agreed("permessage-deflate; \(all)").deflate
                == PerMessageDeflate(serverForgets: true, clientForgets: true, serverWindowBits: 10, clientWindowBits: 8))
    }

    @Test(arguments: [
        "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=09",
        "permessage-deflate; client_max_window_bits", "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; a",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover", "permessage-deflate, x", "x",
    ])
    func bitsOfUnknownExtensionsAreAllowed(_ answer: String) {
        let agreement = self.agreed(answer)
        #expect(agreement.deflate == nil)
        #expect(agreement.reservedBits == .any)
        #expect(!agreement.unknown.isEmpty)
    }

    @Test func deflateThatIsAppliedLastIsInflatedThoughOthersAreThere() {
        let agreement = self.agreed("x, permessage-deflate")
        #expect(agreement == WebSocketAgreement(deflate: PerMessageDeflate(), unknown: ["x"]))
        #expect(agreement.reservedBits == .any)
        #expect(self.agreed("permessage-deflate", offer: "y").deflate == nil)
        #expect(self.agreed("not; a; list=").reservedBits == .any)
    }

    @Test(arguments: [
        // The offer, the recorded extension, and the answer.
        ("permessage-deflate", "permessage-deflate", "permessage-deflate"),
        ("x, permessage-deflate; server_no_context_takeover", "permessage-deflate", "permessage-deflate; server_no_context_takeover"),
        ("permessage-deflate; server_max_window_bits=10", "permessage-deflate", "permessage-deflate; server_max_window_bits=10"),
        (
            "permessage-deflate; server_max_window_bits=12", "permessage-deflate; server_max_window_bits=9",
            "permessage-deflate; server_max_window_bits=9"
        ),
        (
            "permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=11",
            "permessage-deflate; client_max_window_bits=11"
        ),
        (
            "permessage-deflate; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=11",
            "permessage-deflate; client_max_window_bits=10"
        ),
        ("permessage-deflate", "permessage-deflate; client_max_window_bits=11", "permessage-deflate"),
        (
            "permessage-deflate; unheard, permessage-deflate", "permessage-deflate; client_no_context_takeover",
            "permessage-deflate; client_no_context_takeover"
        ),
        ("permessage-deflate; server_max_window_bits=7", "permessage-deflate", ""), ("x", "permessage-deflate", ""),
    ])
    func answerIsAsNearToTheRecordingAsTheOfferAllows(_ offer: String, _ recorded: String, _ answer: String) throws {
        let recorded = try #require(PerMessageDeflate(answer: self.extensions(recorded)[0]))
        #expect(PerMessageDeflate.answer(to: try self.extensions(offer), recorded: recorded)?.text ?? "" == answer)
    }
}
