import Testing

@testable import CassetteModel
@testable import CassetteTools

@Suite struct HeaderComparisonTests {
    private func changes(_ old: [String], _ new: [String], all: Bool = false) -> [FieldChange] {
        HeaderComparison.changes(HeaderFields(old), HeaderFields(new), showsAll: all)
    }

    @Test func namesHaveNoCaseAndOrderCountsWithinANameAlone() {
        #expect(self.changes(["A: 1", "b: 2"], ["B: 2", "a:1"]) == [])
        #expect(self.changes(["ETag: x"], ["etag: y"]) == [FieldChange("header:etag", "x", "y")])
    }

    @Test func volatileFieldsAreShownOnlyOnDemand() {
        let (old, new) = (["Date: a", "X-Request-Id: 1", "Content-Length: 3"], ["Date: b", "X-Request-Id: 2"])
        #expect(self.changes(old, new) == [])
        #expect(self.changes(old, new, all: true).map(\.place) == ["header:date", "header:x-request-id", "header:content-length"])
    }

    @Test func aBoundaryDoesNotCount() {
        let field = { (boundary: String) in "Content-Type: multipart/form-data; charset=x; boundary=\(boundary)" }
        #expect(self.changes([field("a")], [field("b")]) == [])
        #expect(self.changes([field("a")], [field("b")], all: true).count == 1)
        #expect(self.changes(["Content-Type: text/plain; boundary=a"], ["Content-Type: text/plain; boundary=b"]).count == 1)
    }
}
