import Testing

@testable import TapeCore

@Suite struct FieldsOfBodyTests {
    @Test func ofACutBodyAsMuchIsMissingAsBefore() {
        var fields = HeaderFields(["Content-Length: 100"])
        var notes: [String] = []
        FieldsOfBody(makeDigest: { PortableSHA256() }).mend(&fields, growth: -5, old: { [] }, new: { [] }, notes: &notes)
        #expect(fields.lines == ["content-length: 95"] || fields.lines == ["Content-Length: 95"])
        #expect(notes == [])
    }

    @Test func chunksKeepTheirOrderAndNoneIsEmpty() {
        var arrival: Arrival? = Arrival(isChunked: true, pieces: [.init(at: 1, size: 10), .init(at: 2, size: 1), .init(at: 3, size: 9)])
        FieldsOfBody.mend(&arrival, edits: nil, oldSize: 20, newSize: 6)
        #expect(arrival?.pieces == [.init(at: 1, size: 3), .init(at: 3, size: 3)])
    }
}
