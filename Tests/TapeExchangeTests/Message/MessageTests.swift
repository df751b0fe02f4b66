import CassetteModel
@testable internal import TapeExchange
import Testing

@Suite struct MessageErrorTests {
    @Test func codesAreDistinct() {
        let codes: [MessageError.Code] = [
            .startLine, .version, .lineEnd, .field, .tooLong, .tooManyFields, .framing, .coding, .chunk, .trailer, .target, .host,
        ]
        #expect(Set(codes).count == codes.count)
    }
}

@Suite struct MessageSideTests {
    @Test func faultOfTheOriginIsABadGateway() {
        #expect(MessageSide.request.fault(.field, status: 431, "x") == MessageError(.field, status: 431, "x"))
        #expect(MessageSide.response.fault(.field, status: 431, "x") == MessageError(.field, status: 502, "x"))
    }
}

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

@Suite struct ResponseHeadTests {
    @Test func spaceCannotBeMissingBeforeAReason() {
        let head = ResponseHead(version: .http11, status: 200, reason: [79], omitsReasonSpace: true, fields: HeaderFields())
        #expect(!head.omitsReasonSpace)
    }
}
