@testable import CassettePlayback
import Testing

@Suite struct RecordedKeysTests {
    private func number(_ keys: RecordedKeys, _ method: String, _ url: String) -> Int? {
        RequestKey.withBytes(method: method, url: url) { keys.number(of: $0) }
    }

    @Test func equalRequestsShareAKey() {
        let keys = RecordedKeys([("GET", "http://a.test/"), ("GET", "http://a.test/x"), ("GET", "HTTP://a.test")])
        #expect(keys.count == 3)
        #expect(keys.distinctCount == 2)
        #expect(keys.keyNumbers == [0, 1, 0])
    }

    @Test func onlyRecordedKeysAreFound() {
        let keys = RecordedKeys([("GET", "http://a.test/"), ("POST", "http://a.test/")])
        #expect(self.number(keys, "POST", "http://A.test") == 1)
        #expect(self.number(keys, "PUT", "http://a.test/") == nil)
        #expect(self.number(RecordedKeys(), "GET", "http://a.test/") == nil)
    }

    @Test func findsEachOfManyThousands() {
        let keys = RecordedKeys((0..<5_000).map { ("GET", "http://a.test/items/\($0)") })
        #expect(keys.distinctCount == 5_000)
        let numbers = (0..<5_000).map { self.number(keys, "GET", "http://a.test/items/\($0)") }
        #expect(numbers == Array(0..<5_000))
        #expect(self.number(keys, "GET", "http://a.test/items/5000") == nil)
    }

    @Test func aTunnelThatFailedKeepsItsPlaceAndHasNoKey() {
        let keys = RecordedKeys([("CONNECT", "https://a.test:443/"), ("GET", "https://a.test/"), ("CONNECTED", "https://a.test/")])
        #expect(keys.keyNumbers == [RecordedKeys.noKey, 0, 1])
        #expect(keys.count == 3)
        #expect(keys.answerableCount == 2)
        #expect(self.number(keys, "CONNECT", "https://a.test:443/") == nil)
    }

    @Test func keysKnowWhetherARequestMayHaveABody() {
        var keys = RecordedKeys()
        for (path, mayHaveBody) in [("/a", false), ("/b", true), ("/a", true), ("/c", false), ("/c", false)] {
            RequestKey.withBytes(method: "PUT", url: "http://a.test" + path) { keys.append($0, mayHaveBody: mayHaveBody) }
        }
        #expect((0..<3).map { keys.mayHaveBodies($0) } == [true, true, false])
        #expect(keys.withBytes(ofKey: 0) { Array($0) } == Array("PUT http://a.test/a".utf8))
    }
}

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
