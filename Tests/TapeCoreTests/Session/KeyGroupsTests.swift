import Testing

@testable import TapeCore

@Suite struct KeyGroupsTests {
    @Test func groupsKeepRecordedOrder() {
        let groups = KeyGroups(RecordedKeys(["a", "b", "a", "c", "b", "a"].map { ("GET", "http://\($0).test/") }))
        let indexes = (0..<3).map { key in (0..<groups.count(ofKey: key)).map { groups.index(ofKey: key, at: $0) } }
        #expect(indexes == [[0, 2, 5], [1, 4], [3]])
    }

    @Test func noKeysAreNoGroups() {
        _ = KeyGroups(RecordedKeys())
    }
}
