@testable import TapeProxy
import Testing

@Suite struct SessionNameTests {
    @Test(arguments: ["s1", "a", "Worker-3_pets.v2", String(repeating: "n", count: 64)]) func thatIsAName(_ text: String) {
        #expect(SessionName(text)?.text == text)
    }

    @Test(arguments: ["", ".", "..", ".a", "a b", "a:b", "a/b", "a%20b", "a@b", "보리", "a\n", "a\0", String(repeating: "n", count: 65)])
    func otherNamesAreRefused(_ text: String) {
        #expect(SessionName(text) == nil)
    }

    @Test func defaultNamesAreNumbered() { #expect("\(SessionName(number: 7))" == "s7") }
}

@Suite struct SessionErrorTests {
    @Test func anErrorIsItsMessage() {
        #expect("\(SessionError(.tooMany, "64 sessions are open"))" == "64 sessions are open")
        #expect(SessionError.Code.notFound != .invalid)
    }
}
