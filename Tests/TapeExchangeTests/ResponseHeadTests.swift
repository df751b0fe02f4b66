internal import CassetteModel
internal import Testing

@testable internal import TapeExchange

@Suite struct ResponseHeadTests {
    @Test func spaceCannotBeMissingBeforeAReason() {
        let head = ResponseHead(version: .http11, status: 200, reason: [79], omitsReasonSpace: true, fields: HeaderFields())
        #expect(!head.omitsReasonSpace)
    }
}
