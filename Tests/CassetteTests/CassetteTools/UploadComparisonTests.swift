import CassetteModel
import CassetteStore
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct UploadComparisonTests {
    private let reader = BodyReader(cassettePath: "none.json")

    private func compare(
        _ left: [UInt8], _ right: [UInt8], _ leftHeaders: HeaderFields = FormFixtures.headers,
        _ rightHeaders: HeaderFields = FormFixtures.headers
    ) throws -> UploadComparison {
        try UploadComparison(
            .init(FormFixtures.upload(left, headers: leftHeaders), reader: self.reader),
            .init(FormFixtures.upload(right, headers: rightHeaders), reader: self.reader))
    }

    private func form(_ parts: [(String, String)], boundary: String = FormFixtures.boundary) -> [UInt8] {
        FormFixtures.body(parts.map { (["Content-Disposition: form-data; \($0.0)"], Array($0.1.utf8)) }, boundary: boundary)
    }

    @Test func uploadsThatDifferOnlyInTheirBoundariesAreTheSame() throws {
        let parts = [("name=\"a\"", "1"), ("name=\"b\"; filename=\"b.txt\"", "two")]
        let other = HeaderFields(["Content-Type: multipart/form-data; boundary=\"x y\""])
        let found = try self.compare(self.form(parts), self.form(parts, boundary: "x y"), FormFixtures.headers, other)
        #expect(found.message.map(\.place) == ["header:content-type"], "a boundary in quotes is written differently")
        let plain = HeaderFields(["Content-Type: multipart/form-data; boundary=zz"])
        #expect(try !self.compare(self.form(parts), self.form(parts, boundary: "zz"), FormFixtures.headers, plain).differs)
    }

    @Test func theBytesThatDifferAreMarked() throws {
        let text = String(repeating: "0123456789", count: 20)
        let changed = text.prefix(150) + "ABC" + text.dropFirst(153)
        let found = try self.compare(self.form([("name=\"a\"", text)]), self.form([("name=\"a\"", String(changed))]))
        let bytes = try #require(found.pairs.first?.bytes.first)
        #expect(bytes.what == "data" && bytes.offset == 150 && found.pairs[0].changes.isEmpty)
        #expect(Array(bytes.left.bytes[bytes.left.differing]) == Array("012".utf8) && bytes.left.count == 3)
        #expect(Array(bytes.right.bytes[bytes.right.differing]) == Array("ABC".utf8))
    }

    @Test func insertedBytesAreOnOneSideOnly() throws {
        let found = try self.compare(self.form([("name=\"a\"", "ab")]), self.form([("name=\"a\"", "aXb")]))
        let bytes = try #require(found.pairs.first?.bytes.first)
        #expect(bytes.offset == 1 && bytes.left.count == 0 && bytes.right.count == 1)
        #expect(found.pairs[0].changes == [FieldChange("size", "2", "3")])
    }

    @Test func partsAreComparedByNameWhereverTheyAre() throws {
        let found = try self.compare(
            self.form([("name=\"a\"", "1"), ("name=\"b\"", "2")]), self.form([("name=\"b\"", "2"), ("name=\"a\"", "1")]))
        #expect(found.pairs.count == 2 && found.pairs.allSatisfy(\.isSame))
        #expect(found.message == [FieldChange("order of the parts", "a, b", "b, a")])
    }

    @Test func aWrongNameIsTheSamePartWithAnotherName() throws {
        let found = try self.compare(
            self.form([("name=\"photo\"; filename=\"a.png\"", "x"), ("name=\"only\"", "1")]),
            self.form([("name=\"image\"; filename=\"a.png\"", "x")]))
        #expect(found.pairs.count == 2)
        #expect(
            found.pairs[0].changes.map(\.place) == ["header:content-disposition"]
                && found.pairs[0].right?.name == "image" && found.pairs[0].bytes.map(\.what) == ["header section"])
        #expect(found.pairs[1].left?.name == "only" && found.pairs[1].right == nil)
    }

    @Test func fieldsThatAreOnlyWrittenDifferentlyDiffer() throws {
        let one = FormFixtures.body([(["Content-Disposition: form-data; name=\"a\""], [49])])
        let other = FormFixtures.body([(["content-disposition: form-data; name=\"a\""], [49])])
        let found = try self.compare(one, other)
        #expect(found.pairs[0].changes == [FieldChange("header section", "the same fields", "written differently")])
    }

    @Test func aBodyThatIsNotClosedAndLintSaySo() throws {
        let whole = self.form([("name=\"a\"", "1")])
        let found = try self.compare(whole, Array(whole.dropLast(FormFixtures.boundary.utf8.count + 8)))
        #expect(found.message.contains(FieldChange("closing delimiter", "there", "missing")))
        #expect(found.findings.left.isEmpty && found.findings.right.contains { $0.kind == "notClosed" })
    }

    @Test func aFormThatSaysItIsJSONIsCompared() throws {
        let body = self.form([("name=\"a\"", "1")])
        let found = try self.compare(body, body, FormFixtures.headers, HeaderFields(["Content-Type: application/json"]))
        #expect(found.pairs.allSatisfy(\.isSame) && found.differs)
        #expect(found.message.contains(FieldChange("boundary in the Content-Type", "there", "missing")))
    }

    @Test func nestedPartsArePairedAsWell() throws {
        #expect(try !self.compare(FormFixtures.nested, FormFixtures.nested).differs)
        #expect(try self.compare(FormFixtures.nested, FormFixtures.nested).pairs.count == 3)
    }

    @Test func bodiesWithoutPartsAreComparedAsTheyAre() throws {
        let text = HeaderFields(["Content-Type: text/plain"])
        let found = try self.compare([1, 2, 3], [1, 9, 3], text, text)
        #expect(found.pairs.count == 1 && found.pairs[0].bytes.first?.offset == 1)
        #expect(try !self.compare([1, 2], [1, 2], text, text).differs)
    }

    @Test func aRequestWithoutABodyIsNoUpload() throws {
        #expect(throws: InspectError.self) {
            try UploadComparison(
                .init(.sample(1), reader: self.reader), .init(FormFixtures.upload(FormFixtures.pets), reader: self.reader))
        }
    }
}
