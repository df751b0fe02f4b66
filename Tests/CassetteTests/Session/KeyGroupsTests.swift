import Testing

@testable import CassettePlayback

@Suite struct KeyGroupsTests {
    @Test func groupsKeepRecordedOrder() {
        let groups = KeyGroups(RecordedKeys(["a", "b", "a", "c", "b", "a"].map { ("GET", "http://\($0).test/") }))
        let indexes = (0..<3).map { key in (0..<groups.count(ofKey: key)).map { groups.index(ofKey: key, at: $0) } }
        #expect(indexes == [[0, 2, 5], [1, 4], [3]])
    }

    @Test func anExchangeWithoutAKeyIsInNoGroup() {
        let groups = KeyGroups(RecordedKeys([("CONNECT", "https://a.test/"), ("GET", "http://a.test/"), ("CONNECT", "https://b.test/")]))
        #expect(groups.count(ofKey: 0) == 1)
        #expect(groups.index(ofKey: 0, at: 0) == 1)
    }

    @Test func noKeysAreNoGroups() {
        _ = KeyGroups(RecordedKeys())
    }
}
