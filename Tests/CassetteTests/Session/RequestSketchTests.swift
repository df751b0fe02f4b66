import Testing

@testable import CassettePlayback

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
