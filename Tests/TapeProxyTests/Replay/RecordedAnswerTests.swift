import CassetteModel
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct RecordedAnswerTests {
    private func interaction(_ fields: String..., status: Int = 200, method: String = "GET", body: Body? = nil) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: method, url: "http://h/"),
            response: RecordedResponse(status: status, reason: Array("OK".utf8), headers: HeaderFields(fields), body: body))
    }

    private func wire(_ answer: RecordedAnswer) -> String? { ReadyAnswer(answer).map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func aWholeAnswerIsOnePiece() throws {
        let answer = try RecordedAnswer(self.interaction("Content-Length: 2"), payload: .bytes([104, 105]), size: 2)
        #expect(self.wire(answer) == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        #expect(answer.weight > 2)
    }

    @Test func anEditedBodyBringsItsLength() throws {
        let answer = try RecordedAnswer(self.interaction("content-length: 9"), payload: .bytes([104, 105]), size: 2)
        #expect(self.wire(answer) == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
    }

    @Test func aCutBodyKeepsTheLengthItPromised() throws {
        var interaction = self.interaction("Content-Length: 9", body: Body(size: 2, isComplete: false, content: .text([104, 105])))
        interaction.outcome = .cut(Cut(by: .origin, reason: "gone"))
        let answer = try RecordedAnswer(interaction, payload: .bytes([104, 105]), size: 2)
        #expect(answer.framing == .length(9))
        #expect(ReadyAnswer(answer) == nil)
    }

    /// RFC 9842: only a client with the dictionary can decode such a body.
    @Test(arguments: ["dcb", "dcz", "gzip"]) func aBodyOfADictionaryIsForClientsThatHaveIt(coding: String) throws {
        var recorded = self.interaction("Content-Encoding: \(coding)", body: Body(size: 2, content: .text([104, 105])))
        let own = ["Accept-Encoding: gzip, dcb, dcz", "Available-Dictionary: :YQ==:"]
        recorded.request.headers = HeaderFields(own)
        let known = try #require(RecordedCoding(recorded))
        let isOfDictionary = coding != "gzip"
        #expect(!known.refuses(HeaderFields(own)))
        #expect(known.refuses(HeaderFields([own[0]])) == isOfDictionary)
        #expect(known.refuses(HeaderFields([own[0], "Available-Dictionary: :Yg==:"])) == isOfDictionary)
    }

    @Test func anAnswerDecodedByItsClientGetsAMatchingHead() throws {
        var whole = self.interaction("Content-Encoding: gzip", "Content-Length: 63", "ETag: \"1\"")
        whole.response?.bodyWasDecoded(size: 2)
        let answer = try RecordedAnswer(whole, payload: .bytes([104, 105]), size: 2)
        #expect(self.wire(answer) == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: \"1\"\r\n\r\nhi")
        var cut = self.interaction("Content-Encoding: gzip", "Content-Length: 63")
        cut.response?.bodyWasDecoded(size: nil)
        cut.response?.body = Body(size: 2, isComplete: false, content: .text([104, 105]))
        cut.outcome = .cut(Cut(by: .origin, reason: "gone"))
        #expect(try RecordedAnswer(cut, payload: .bytes([104, 105]), size: 2).framing == .chunked)
    }

    @Test func anAnswerToHEADKeepsItsLengthAndHasNoBody() throws {
        let answer = try RecordedAnswer(self.interaction("Content-Length: 100", method: "HEAD"), payload: .none, size: 0)
        #expect(self.wire(answer) == "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
    }

    @Test func answerEndedByACloseOrInAFileIsNotReady() throws {
        #expect(try ReadyAnswer(RecordedAnswer(self.interaction(), payload: .bytes([1]), size: 1)) == nil)
        let sidecar = Sidecar(path: "a.bodies/b", size: 1, sha256: "")
        #expect(try ReadyAnswer(RecordedAnswer(self.interaction("Content-Length: 1"), payload: .file(sidecar), size: 1)) == nil)
    }

    @Test(arguments: ["no colon", "A b: c", ":status: 200", "A: \u{1}", "Content-Length: 2", ""])
    func aLineThatLiveTrailersMustNotHoldIsRefused(line: String) {
        var interaction = self.interaction("Transfer-Encoding: chunked")
        interaction.response?.trailers = HeaderFields(["A: b"])
        #expect(throws: Never.self) { try RecordedAnswer(interaction, payload: .none, size: 0) }
        interaction.response?.trailers = HeaderFields(["A: b", line])
        #expect(throws: MessageError.self) { try RecordedAnswer(interaction, payload: .none, size: 0) }
    }

    @Test(arguments: ["no colon", "A b: c", "A : b", ": b", "A: \u{1}"]) func aLineThatALiveHeadMustNotHoldIsRefused(line: String) {
        #expect(throws: MessageError.self) { try RecordedAnswer(self.interaction(line, "Content-Length: 0"), payload: .none, size: 0) }
        var interaction = self.interaction("Content-Length: 0")
        interaction.interim = [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields([line]), at: 0)]
        #expect(throws: MessageError.self) { try RecordedAnswer(interaction, payload: .none, size: 0) }
    }

    @Test func anInterimStatusIsNoAnswer() {
        #expect(throws: MessageError.self) { try RecordedAnswer(self.interaction(status: 100), payload: .none, size: 0) }
    }

    @Test func framingThatIsInDoubtIsRefused() {
        #expect(throws: MessageError.self) { try RecordedAnswer(self.interaction("Content-Length: x"), payload: .none, size: 0) }
        #expect(throws: MessageError.self) {
            try RecordedAnswer(self.interaction("Content-Length: 1", "Transfer-Encoding: chunked"), payload: .none, size: 0)
        }
    }
}
