@testable import CassetteModel
@testable import CassettePlayback
import Testing

@Suite struct GRPCStatusTests {
    @Test(arguments: [("5", 5), ("NOT_FOUND", 5), ("not_found", 5), ("NotFound", 5), ("OK", 0), ("unauthenticated", 16), ("99", 99)])
    func aStatusIsANumberOrAName(word: String, code: Int) {
        #expect(GRPCStatus(word)?.code == code)
    }

    @Test(arguments: ["", "-1", "found", "5x"]) func otherWordsAreNil(word: String) {
        #expect(GRPCStatus(word) == nil)
    }

    @Test func anAnswerWithoutABodySaysItInItsHead() {
        var response = RecordedResponse(
            status: 200, headers: HeaderFields(["content-type: application/grpc", "grpc-status: 12", "grpc-message: no%20such%0Amethod"]))
        #expect(GRPCStatus(response)?.name == "UNIMPLEMENTED")
        #expect(GRPCStatus.words(response) == "no such\nmethod")
        response.trailers = HeaderFields(["grpc-status: 13"])
        #expect(GRPCStatus(response)?.name == "INTERNAL")
    }

    @Test func responseWithoutGRPCHasNoStatus() {
        #expect(GRPCStatus(RecordedResponse(status: 200, headers: HeaderFields(["content-type: text/plain", "grpc-status: 0"]))) == nil)
        #expect(GRPCStatus(nil) == nil)
    }
}
