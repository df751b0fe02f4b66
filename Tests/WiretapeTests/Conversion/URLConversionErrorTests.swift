import Testing

@testable import Wiretape

@Suite struct URLConversionErrorTests {
    @Test func codesAreToldApartAndNamed() {
        #expect(URLConversionError.Code.noHost != .noScheme)
        #expect("\(URLConversionError.Code.invalidPercent)" == "invalidPercent")
        #expect("\(URLConversionError(.noHost, "words"))" == "words")
    }
}
