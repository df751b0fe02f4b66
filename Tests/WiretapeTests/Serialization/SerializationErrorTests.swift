import Testing

@testable import Wiretape

@Suite struct SerializationErrorTests {
    @Test func codesAreToldApartAndNamed() {
        #expect(SerializationError.Code.emptyBody != .invalidJSON)
        #expect("\(SerializationError.Code.unknownCharset)" == "unknownCharset")
        #expect("\(SerializationError(.invalidText, "words"))" == "words")
    }
}
