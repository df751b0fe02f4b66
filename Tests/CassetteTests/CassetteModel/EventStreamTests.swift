@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct EventStreamTests {
    private func texts(_ text: String) -> [[String]]? {
        EventStream(Array(text.utf8)).map { stream in
            stream.events.map { $0.map { String(decoding: stream.bytes[$0], as: UTF8.self) } }
        }
    }

    @Test func aBlankLineEndsAnEvent() {
        #expect(self.texts("data: a\nid: 1\n\n: ping\n\n\ndata: b\n\n") == [["data: a", "id: 1"], [": ping"], [], ["data: b"]])
        #expect(self.texts("data: a\r\n\r\ndata: b\r\n\r\n") == [["data: a"], ["data: b"]])
    }

    @Test func unfinishedEventIsTheRest() {
        let stream = EventStream(Array("data: a\n\ndata: hal".utf8))
        #expect(stream?.events.count == 1 && stream?.rest == 9..<18)
    }

    @Test(arguments: ["", "data: a", "data: a\n", "data: a\n\r\n", "data: a\r\r", "data: a\rb\n\n"])
    func otherLineEndsAndNoEventAreText(_ text: String) {
        #expect(self.texts(text) == nil)
    }

    @Test func theLongestJSONGivesTheStyle() {
        #expect(EventStream(Array("data: {}\n\ndata: {\"a\": 1, \"b\": 2}\n\ndata: [DONE]\n\n".utf8))?.style == .spaced)
        #expect(EventStream(Array("data: x\n\n".utf8))?.style == .compact)
    }
}
