import Testing

@testable import CassetteModel
@testable import CassetteRedaction

@Suite struct RedactorSourcesTests {
    @Test func nothingIsDeliveredWhereNothingIsToBeDone() throws {
        let outcome = try Redactor().redact(ByteSource(Array("plain".utf8)), headers: HeaderFields(), isComplete: true) { _ in
            Issue.record("delivered")
        }
        #expect(!outcome.isChanged)
    }

    @Test func theHeadFitsTheNewOctets() throws {
        let old = ByteSource(Array("{\"token\":\"abc123\"}".utf8))
        var headers = HeaderFields(["Content-Length: \(old.size)"])
        var octets: [UInt8] = []
        var outcome = try Redactor().redact(old, headers: headers, isComplete: true) { octets.append(contentsOf: $0) }
        var trailers: HeaderFields?
        var arrival: Arrival? = Arrival(isChunked: false, pieces: [.init(at: 0, size: old.size)])
        try Redactor().fit(&headers, &trailers, arrival: &arrival, from: old, to: ByteSource(octets), outcome: &outcome)
        #expect(headers.first("content-length") == "\(octets.count)")
        #expect(arrival?.pieces.map(\.size) == [octets.count])
    }
}
