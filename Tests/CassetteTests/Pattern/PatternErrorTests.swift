import Testing

@testable import TapeBytes

@Suite struct PatternErrorTests {
    @Test func itSaysWhatItsMessageSays() {
        let error = PatternError(offset: 3, message: "pattern \"abc(\" at character 4 has no end: add one")
        #expect("\(error)" == error.message)
    }
}
