import CassetteModel
import Testing

@testable import TapeProxy

@Suite struct ReplayCheckTests {
    private func problem(_ lines: [String], status: Int = 200) -> String? {
        ReplayCheck.problem(
            of: Interaction(
                id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a.test/"),
                response: RecordedResponse(
                    status: status, headers: HeaderFields(lines), body: Body(size: 2, content: .text(Array("ab".utf8))))))
    }

    @Test func whatAReplaySendsHasNone() {
        #expect(self.problem(["Content-Length: 2", "X: y"]) == nil)
        #expect(self.problem(["Content-Length: 9"]) == nil, "the length follows an edited body")
        #expect(self.problem(["Transfer-Encoding: chunked"]) == nil && self.problem([], status: 204) == nil)
    }

    @Test func whatItWouldNotSendSaysWhy() {
        #expect(self.problem(["Content-Length: 2", "Content-Length: 3"])?.contains("Content-Length") == true)
        #expect(self.problem(["Content Type: x"])?.contains("white space") == true)
        #expect(self.problem([], status: 102)?.contains("interim") == true)
    }
}
