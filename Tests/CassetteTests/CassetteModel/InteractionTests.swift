@testable import CassetteModel
import TapeBytes
import Testing

@Suite struct InteractionBodiesTests {
    @Test func bodiesComeWithTheirMessages() {
        #expect(Interaction.care(1).bodies.isEmpty)
        let both = Interaction.care(1, requestBody: .text("a"), headers: ["A: 1"], body: .text("bc"))
        #expect(both.bodies.map(\.message) == ["request", "response"])
        #expect(both.bodies.map(\.body.size) == [1, 2])
        #expect(both.bodies[1].headers == HeaderFields(["A: 1"]))
    }
}

@Suite struct InteractionUndecodedTests {
    private let raw = Body(size: 1, content: .raw(RawSlice(path: "a.bodies/undeveloped.raw", offset: 0, size: 1, crc32: 0)))

    private func interaction(_ request: Body?, _ response: RecordedResponse?) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/", body: request),
            response: response)
    }

    @Test func oneRawBodyIsEnough() {
        #expect(self.interaction(self.raw, nil).isUndecoded)
        #expect(self.interaction(nil, RecordedResponse(status: 200, body: self.raw)).isUndecoded)
    }

    @Test func noBodyAndReadableBodiesAreNothingToDo() {
        #expect(!self.interaction(nil, nil).isUndecoded)
        let text = Body(size: 1, content: .text([65]))
        #expect(!self.interaction(text, RecordedResponse(status: 200, body: text)).isUndecoded)
    }
}
