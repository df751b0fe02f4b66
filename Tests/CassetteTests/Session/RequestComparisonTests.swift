import Testing

@testable import CassettePlayback

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

    @Test func aDifferenceBehindTheLimitIsStillADifference() {
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
