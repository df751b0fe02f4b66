import Testing

@testable import TapeCore

@Test func repetitionsHaveTheNamesOfTheCommandLine() {
    #expect(Repetition.allCases.map(\.rawValue) == ["never", "last", "cycle"])
}
