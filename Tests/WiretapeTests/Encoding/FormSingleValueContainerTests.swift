import Testing

@testable import Wiretape

@Suite struct FormSingleValueContainerTests {
    private struct Twice: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
            try container.encode("last")
            #expect(container.codingPath.map(\.stringValue) == ["v"])
        }
    }

    @Test func theLastValueWrittenCounts() throws {
        #expect(try URLEncodedFormEncoder().encode(["v": Twice()]) == "v=last")
    }
}
