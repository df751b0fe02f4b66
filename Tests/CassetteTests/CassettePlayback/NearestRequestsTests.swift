@testable import CassettePlayback
import Dispatch
import TapeBytes
import Testing

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

    @Test(arguments: [(2048, false), (2049, true)]) func manySketchesAreMadeAheadAndFewWhenTheyAreNeeded(count: Int, isAhead: Bool) {
        let nearest = NearestRequests(in: RecordedKeys((0..<count).map { ("GET", "http://a.test/items/\($0)") }))
        var works: [@Sendable () -> Void] = []
        nearest.makeSketchesAhead { works.append($0) }
        #expect(works.count == (isAhead ? 1 : 0) && !nearest.hasSketches)
        for work in works { work() }
        #expect(nearest.hasSketches == isAhead)
        let found = RequestKey.withBytes(method: "GET", url: "http://a.test/items/x") { nearest.search(for: $0) }
        #expect(found.count == NearestRequests.limit && nearest.hasSketches)
    }

    /// The first search creates the shared sketches; concurrent searches create their own.
    @Test func searchesAtOnceFindTheSame() {
        let nearest = NearestRequests(in: RecordedKeys((0..<5000).map { ("GET", "http://a.test/items/\($0)?q=1") }))
        let found = Guarded<[[Int]]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let keys = RequestKey.withBytes(method: "GET", url: "http://a.test/items/77?q=2") { nearest.search(for: $0).map(\.key) }
            found.withLock { $0.append(keys) }
        }
        #expect(found.withLock { $0 }.allSatisfy { $0.first == 77 })
        #expect(found.withLock { Set($0) }.count == 1)
    }

    @Test func findsTheOneNeighbourAmongMany() {
        let accounts = (0..<3_000).map { ("GET", "http://a.test/v1/accounts/\($0)/balance?at=\($0 % 7)") }
        let keys = RecordedKeys(accounts + [("GET", "http://a.test/v1/users/me")])
        #expect(self.search("GET", "http://a.test/v1/users/me?fields=name", in: keys).first == 3_000)
    }
}

@Suite struct RequestComparisonTests {
    private func compare(_ here: String, _ recorded: String, method: String = "GET") -> RequestComparison {
        RequestComparison(
            RequestKey.withBytes(method: method, url: here) { RequestParts($0) },
            RequestKey.withBytes(method: "GET", url: recorded) { RequestParts($0) })
    }

    @Test func namesEachPartThatDiffers() {
        let put = self.compare("http://a.test/", "http://a.test/", method: "PUT")
        #expect(put.differences == [.method(here: "PUT", recorded: "GET")])
        #expect(self.compare("https://a.test/", "http://a.test/").differences == [.scheme(here: "https", recorded: "http")])
        #expect(self.compare("http://u:p@a.test/", "http://a.test/").differences == [.userInformation])
        #expect(self.compare("http://b.test/", "http://a.test/").differences == [.host(here: "b.test", recorded: "a.test")])
        #expect(self.compare("http://a.test:81/", "http://a.test/").differences == [.port(here: "81", recorded: "")])
    }

    @Test(arguments: [
        ("/users/17/orders", "/users/18/orders", 1), ("/users/17/orders", "/users/orders", 1), ("/a", "/a/", 1),
        ("/a/b/c", "/b/c/d", 2), ("/", "/x/y", 2), ("/kitten/k/i", "/sitting/k/i/g", 2),
    ])
    func pathsAreComparedBySegments(here: String, recorded: String, edits: Int) {
        let comparison = self.compare("http://a.test" + here, "http://a.test" + recorded)
        #expect(comparison.differences == [.path(here: here, recorded: recorded, edits: edits)])
    }

    @Test func queryItemsAreAddedRemovedOrChanged() {
        let comparison = self.compare("http://a.test/?a=1&b=2&new=x", "http://a.test/?old=y&b=3&a=1")
        #expect(
            comparison.differences == [
                .queryItemChanged(here: "b=2", recorded: "b=3"), .queryItemAdded("new=x"), .queryItemRemoved("old=y"),
            ])
    }

    @Test func repeatedItemsCancelOutOneByOne() {
        #expect(self.compare("http://a.test/?a=1&a=1", "http://a.test/?a=1").differences == [.queryItemAdded("a=1")])
        #expect(self.compare("http://a.test/?a&b", "http://a.test/?b&a").differences == [.queryOrder])
        #expect(self.compare("http://a.test/?", "http://a.test/").differences == [.queryItemAdded("")])
    }

    @Test func headerFieldsAreNamed() {
        func parts(_ fields: String) -> RequestParts { Array(("GET http://a.test/?q" + fields).utf8).withUnsafeBytes { RequestParts($0) } }
        let comparison = RequestComparison(parts("\naccept: a\nx-new: 1"), parts("\naccept: b\nx-old: 2"))
        #expect(
            comparison.differences == [
                .header(name: "accept", here: "a", recorded: "b"), .header(name: "x-new", here: "1", recorded: nil),
                .header(name: "x-old", here: nil, recorded: "2"),
            ])
    }

    @Test func aDifferenceAfterTheLimitIsStillADifference() {
        let long = "http://a.test/" + String(repeating: "x", count: 10_000)
        #expect(self.compare(long + "1", long + "2").differences == [.remainder])
    }

    @Test func hostWeighsMoreThanASegmentAndASegmentMoreThanAnItem() {
        let item = self.compare("http://a.test/x?q=1", "http://a.test/x?q=2").distance
        let segment = self.compare("http://a.test/x?q=1", "http://a.test/y?q=1").distance
        let host = self.compare("http://a.test/x?q=1", "http://b.test/x?q=1").distance
        #expect(item < segment)
        #expect(segment < host)
    }
}

@Suite struct RequestPartsTests {
    private func parts(_ url: String) -> RequestParts {
        RequestKey.withBytes(method: "GET", url: url) { RequestParts($0) }
    }

    @Test func splitsPathAndQuery() {
        let parts = self.parts("http://a.test/x//y?a=1&b&=&a=2")
        #expect(parts.segments.map { String(decoding: $0.bytes, as: UTF8.self) } == ["", "x", "", "y"])
        #expect(parts.items.map { String(decoding: $0.bytes, as: UTF8.self) } == ["a=1", "b", "=", "a=2"])
        #expect(parts.items.map { String(decoding: $0.name, as: UTF8.self) } == ["a", "b", "", "a"])
    }

    @Test func noQueryAndAnEmptyQueryAreTwoThings() {
        #expect(self.parts("http://a.test/").items.isEmpty)
        #expect(self.parts("http://a.test/?").items.count == 1)
    }

    @Test func manyPiecesAreLumped() {
        let path = String(repeating: "/s", count: 1_000)
        let query = String(repeating: "q&", count: 1_000)
        let parts = self.parts("http://a.test\(path)?\(query)")
        #expect(parts.segments.count == RequestParts.pieceLimit)
        #expect(parts.items.count == RequestParts.pieceLimit)
    }

    @Test func longRequestsAreCut() {
        #expect(self.parts("http://a.test/" + String(repeating: "x", count: 100_000)).path.count < RequestParts.byteLimit)
    }
}

@Suite struct RequestSketchTests {
    private func sketch(_ method: String, _ url: String) -> RequestSketch {
        RequestKey.withBytes(method: method, url: url) { RequestSketch($0) }
    }

    @Test func equalRequestsAreAtDistanceZero() {
        #expect(self.sketch("GET", "http://a.test/x?y").distance(to: self.sketch("GET", "HTTP://A.test:80/x?y")) == 0)
    }

    @Test func closerRequestsHaveSmallerDistances() {
        let request = self.sketch("GET", "http://a.test/users/17/orders?page=2")
        let distances = [
            "http://a.test/users/17/orders?page=1", "http://a.test/users/18/orders?page=1", "http://b.test/users/18/orders?page=1",
            "http://b.test/a/totally/different/thing",
        ].map { request.distance(to: self.sketch("GET", $0)) }
        #expect(distances == distances.sorted())
        #expect(Set(distances).count == distances.count)
    }

    @Test func theMethodCounts() {
        #expect(self.sketch("GET", "http://a.test/").distance(to: self.sketch("PUT", "http://a.test/")) == 3)
    }
}
