import CassetteModel
import TapeExchange
import Testing

@Suite struct ResponseHeadRecordedTests {
    @Test(arguments: [true, false]) func aStatusLineWithoutTheSpaceIsRecordedAsThat(omits: Bool) {
        let head = ResponseHead(version: .http11, status: 200, reason: [], omitsReasonSpace: omits, fields: HeaderFields(["A: b"]))
        #expect(RecordedResponse(head).omitsReasonSpace == omits)
        #expect(RecordedResponse(head).headers.lines == ["A: b"])
        let interim = InterimResponse(head, at: 1.5)
        #expect(interim.omitsReasonSpace == omits)
        #expect(interim.at == 1.5)
    }
}
