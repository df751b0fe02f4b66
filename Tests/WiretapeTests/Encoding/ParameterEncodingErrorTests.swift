import Testing

@testable import Wiretape

@Suite struct ParameterEncodingErrorTests {
    @Test func codesAreToldApartAndNamed() {
        #expect(ParameterEncodingError.Code.missingURL != .notAnObject)
        #expect("\(ParameterEncodingError.Code.tooDeep)" == "tooDeep")
        #expect("\(ParameterEncodingError(.notEncodable, "words"))" == "words")
    }
}
