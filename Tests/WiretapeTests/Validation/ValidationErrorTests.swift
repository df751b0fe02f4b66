import Testing

@testable import Wiretape

@Suite struct ValidationErrorTests {
    @Test func codesAreToldApartAndNamed() {
        #expect(ValidationError.Code.missingContentType != .unacceptableContentType)
        #expect("\(ValidationError.Code.unacceptableStatus)" == "unacceptableStatus")
        #expect("\(ValidationError(.unacceptableStatus, status: 404, "words"))" == "words")
    }
}
