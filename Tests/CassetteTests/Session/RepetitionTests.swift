import Testing

@testable import CassettePlayback

@Test func repetitionsHaveTheNamesOfTheCommandLine() {
    #expect(Repetition.allCases.map(\.rawValue) == ["never", "last", "cycle"])
}
