import Testing

@testable import TapeTLS

struct TLSVersionTests {
    @Test func versionsHaveTheNumbersOfTheWire() {
        #expect(TLSVersion.allCases.map(\.number) == [0x0301, 0x0302, 0x0303, 0x0304])
    }

    @Test func versionsAreOrderedByAge() {
        #expect(TLSVersion.allCases.shuffled().sorted() == [.tls10, .tls11, .tls12, .tls13])
    }

    @Test func versionsBelow12AreDeprecated() {
        #expect(TLSVersion.allCases.filter(\.isDeprecated) == [.tls10, .tls11])
    }

    @Test func versionsAreReadAsPeopleWriteThem() {
        #expect(TLSVersion(rawValue: "1.3") == .tls13)
        #expect(TLSVersion(rawValue: "3.0") == nil)
    }
}
