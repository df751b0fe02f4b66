import Testing

@testable import CassettePlayback

@Suite struct NearestRequestsTests {
    private func search(_ method: String, _ url: String, in keys: RecordedKeys) -> [Int] {
        RequestKey.withBytes(method: method, url: url) { NearestRequests(in: keys).search(for: $0).map(\.key) }
    }

    @Test func findsTheThreeNearestInOrder() {
        let keys = RecordedKeys([
            ("GET", "http://other.test/nothing/alike"), ("GET", "http://a.test/users/18?page=2"),
            ("POST", "http://a.test/users/17?page=2"), ("GET", "http://a.test/users/17?page=1"), ("GET", "http://a.test/"),
        ])
        #expect(self.search("GET", "http://a.test/users/17?page=2", in: keys) == [3, 2, 1])
    }

    @Test func anEmptyCassetteHasNoneAndTheRequestItselfIsLeftOut() {
        #expect(self.search("GET", "http://a.test/", in: RecordedKeys()) == [])
        let keys = RecordedKeys([("GET", "http://a.test/"), ("GET", "http://a.test/x")])
        #expect(self.search("GET", "http://a.test/", in: keys) == [1])
    }

    @Test func amongEqualDistancesRecordedOrderDecides() {
        let keys = RecordedKeys((0..<200).map { ("GET", "http://a.test/items/\($0)?q=1") })
        let found = self.search("GET", "http://a.test/items/77?q=2", in: keys)
        #expect(found.first == 77)
        #expect(found == self.search("GET", "http://a.test/items/77?q=2", in: keys))
    }

    @Test func findsTheOneNeighbourAmongMany() {
        let accounts = (0..<3_000).map { ("GET", "http://a.test/v1/accounts/\($0)/balance?at=\($0 % 7)") }
        let keys = RecordedKeys(accounts + [("GET", "http://a.test/v1/users/me")])
        #expect(self.search("GET", "http://a.test/v1/users/me?fields=name", in: keys).first == 3_000)
    }
}
