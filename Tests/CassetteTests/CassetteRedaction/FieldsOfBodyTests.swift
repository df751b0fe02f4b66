@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct FieldsOfBodyTests {
    @Test func ofACutBodyAsMuchIsMissingAsBefore() {
        var fields = HeaderFields(["Content-Length: 100"])
        var notes: [String] = []
        FieldsOfBody(makeDigest: { PortableSHA256() }).mend(&fields, growth: -5, old: { [] }, new: { [] }, notes: &notes)
        #expect(fields.lines == ["content-length: 95"] || fields.lines == ["Content-Length: 95"])
        #expect(notes == [])
    }

    @Test func theDigestThatASignatureCoversFitsWhereItDid() {
        let mender = FieldsOfBody(makeDigest: { PortableSHA256() })
        let (old, new) = (mender.digest([1, 2]), mender.digest([3]))
        var fields = HeaderFields(["X-Amz-Content-Sha256: \(Hex.encode(old))"])
        var notes: [String] = []
        mender.mend(&fields, growth: -1, old: { old }, new: { new }, notes: &notes)
        #expect(fields.first("x-amz-content-sha256") == Hex.encode(new) && notes.isEmpty)
        mender.mend(&fields, growth: -1, old: { old }, new: { new }, notes: &notes)
        #expect(notes == ["x-amz-content-sha256 does not fit the redacted body"])
    }

    @Test func chunksKeepTheirOrderAndNoneIsEmpty() {
        var arrival: Arrival? = Arrival(isChunked: true, pieces: [.init(at: 1, size: 10), .init(at: 2, size: 1), .init(at: 3, size: 9)])
        FieldsOfBody.mend(&arrival, edits: nil, oldSize: 20, newSize: 6)
        #expect(arrival?.pieces == [.init(at: 1, size: 3), .init(at: 3, size: 3)])
    }
}
