import Testing

@testable import WiretapeCLI

@Suite struct MemorySettingsTests {
    /// What it does for speed shows in a benchmark alone.
    @Test func theyCanBeAppliedAgain() {
        MemorySettings.apply()
        MemorySettings.apply()
    }
}
