@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import TapeTestSupport
import Testing

struct MultipartFacetsTests {
    private let one = "0123456789abcdef"
    private let other = "------fedcba98"

    private func facets(_ body: String, _ boundary: String, _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(body, MatchFixture.parts(boundary), rules)
    }

    private func fields(_ fields: [(String, String)], _ boundary: String? = nil, _ rules: MatchRules = .standard) -> BodyFacets {
        self.facets(MatchFixture.fields(boundary ?? self.one, fields), boundary ?? self.one, rules)
    }

    @Test func theBoundaryAndTheTextAroundThePartsDoNotCount() {
        let body = MatchFixture.fields(self.other, [("a", "1"), ("b", "2")])
        #expect(self.fields([("a", "1"), ("b", "2")]) == self.facets(body, self.other))
        #expect(self.facets("preamble\r\n" + body + "epilogue", self.other) == self.facets(body, self.other))
        #expect(self.facets(body, self.other).kind == .multipart)
        #expect(self.facets(body, self.other).count == 2)
    }

    @Test func aBoundaryInAPartsHeaderDoesNotCount() {
        func body(_ boundary: String) -> BodyFacets {
            let head = ["Content-Disposition: form-data; name=\"n-\(boundary)\"; filename=\"f-\(boundary)\"", "Content-Type: x/y"]
            return self.facets(MatchFixture.multipart(boundary, [(head, "data")]), boundary)
        }
        #expect(body(self.one) == body(self.other))
    }

    @Test func orderCountsWhereARuleSaysSo() throws {
        let ordered = try MatchRules(match: ["body", "part-order"])
        #expect(self.fields([("a", "1"), ("b", "2")]) == self.fields([("b", "2"), ("a", "1")]))
        #expect(self.fields([("a", "1"), ("a", "2")]) == self.fields([("a", "2"), ("a", "1")]))
        #expect(self.fields([("a", "1"), ("b", "2")], nil, ordered) != self.fields([("b", "2"), ("a", "1")], nil, ordered))
        #expect(self.fields([("a", "1"), ("b", "2")], nil, ordered) == self.fields([("a", "1"), ("b", "2")], self.other, ordered))
    }

    @Test(
        arguments: [
            ([("a", "1"), ("b", "2")], ["part \"a\" is \"1\", recorded is \"9\"", "part \"b\" (1 byte) was not recorded"]),
            ([], ["part \"a\" (1 byte recorded) is missing"]), ([("a", "9"), ("a", "9")], ["part \"a\" (1 byte) was not recorded"]),
        ] as [([(String, String)], [String])]) func everyPartCounts(live: [(String, String)], why: [String])
    {
        let recorded = self.fields([("a", "9")])
        #expect(self.fields(live) != recorded)
        #expect(self.fields(live).differences(fromRecorded: recorded).map(\.description) == why)
    }

    @Test func anInnerMultipartIsComparedPartByPart() {
        func body(_ outer: String, _ inner: String, _ text: String) -> BodyFacets {
            let parts = MatchFixture.fields(inner, [("x", text), ("y", "2")])
            let head = ["Content-Disposition: form-data; name=\"files\"", "Content-Type: multipart/mixed; boundary=\(inner)"]
            return self.facets(MatchFixture.multipart(outer, [(head, parts)]), outer)
        }
        #expect(body(self.one, "inner-aaaaaaa", "1") == body(self.other, "inner-bbbbbbb", "1"))
        let differences = body(self.one, "inner-aaaaaaa", "1").differences(fromRecorded: body(self.one, "inner-aaaaaaa", "9"))
        #expect(differences.map(\.description) == ["part \"files/x\" is \"1\", recorded is \"9\""])
    }

    @Test func partsOfTwoInnerMultipartsAreNotMixedUp() {
        func body(_ first: [(String, String)], _ second: [(String, String)]) -> BodyFacets {
            let head = ["Content-Disposition: form-data; name=\"files\"", "Content-Type: multipart/mixed; boundary=inner-aaaaaaa"]
            let parts = [first, second].map { (head, MatchFixture.fields("inner-aaaaaaa", $0)) }
            return self.facets(MatchFixture.multipart(self.one, parts), self.one)
        }
        #expect(body([("x", "1"), ("y", "2")], []) != body([("x", "1")], [("y", "2")]))
    }

    @Test func withoutADelimiterTheBytesCount() {
        #expect(self.facets("no parts", self.one).kind == .bytes)
        #expect(self.facets("no parts", self.one) == MatchFixture.live("no parts", MatchFixture.binary))
        #expect(self.facets("no parts", self.one) != self.facets("no part", self.one))
    }

    @Test func aMissingCloseIsADifference() {
        let whole = MatchFixture.fields(self.one, [("a", "1")])
        let cut = String(whole.dropLast("\r\n--\(self.one)--\r\n".count))
        #expect(self.facets(cut, self.one) != self.facets(whole, self.one))
        let differences = self.facets(cut, self.one).differences(fromRecorded: self.facets(whole, self.one))
        #expect(differences == [.closingDelimiter(isHere: false)])
    }

    @Test func partsPastALimitAreComparedAsAWhole() {
        let head = Array(repeating: "X: y", count: 200)
        let body = MatchFixture.multipart(self.one, [(["Content-Disposition: form-data; name=\"a\""], "1"), (head, "2")])
        #expect(self.facets(body, self.one) == self.facets(body, self.one))
        #expect(self.facets(body, self.one) != self.facets(body.replacing("\r\n\r\n2", with: "\r\n\r\n3"), self.one))
    }

    @Test func cutsDoNotCount() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<30 {
            let body = try RandomMultipart.body(using: &generator)
            let bytes = MultipartSerializer.bytes(body)
            let lines = MatchFixture.parts(String(decoding: body.boundary.bytes, as: UTF8.self))
            let whole = MatchFixture.live(bytes, lines)
            for cut in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 60)) {
                #expect(MatchFixture.live(bytes, lines, cuts: [cut]) == whole)
            }
            #expect(MatchFixture.live(bytes, lines, cuts: Array(0..<bytes.count)) == whole)
        }
    }

    @Test func anotherBoundaryIsEqualAndAChangedPartIsNamed() throws {
        var generator = SeededGenerator(seed: 4)
        var changes = 0
        for round in 0..<200 {
            let body = try RandomMultipart.body(using: &generator, depth: 1)
            let recorded = MatchFixture.live(
                MultipartSerializer.bytes(body), MatchFixture.parts(String(decoding: body.boundary.bytes, as: UTF8.self)))
            var live = body
            live.boundary = try #require(MultipartBoundary("another-boundary-\(round)"))
            let lines = MatchFixture.parts("another-boundary-\(round)")
            #expect(MatchFixture.live(MultipartSerializer.bytes(live), lines) == recorded)
            guard let index = live.parts.indices.randomElement(using: &generator), case .data(var data) = live.parts[index].content,
                !data.isEmpty
            else { continue }
            data[Int.random(in: 0..<data.count, using: &generator)] ^= 1
            live.parts[index].content = .data(data)
            let changed = MatchFixture.live(MultipartSerializer.bytes(live), lines)
            #expect(changed != recorded)
            let name = PlainText.escape((ContentDisposition(live.parts[index].headers.fields)?.name ?? "").utf8, limit: 120)
            let named = changed.differences(fromRecorded: recorded).contains {
                if case .part(name, _) = $0 { true } else { false }
            }
            #expect(named, "\(name)")
            changes += 1
        }
        #expect(changes > 50)
    }
}

struct BoundaryMarkTests {
    private func replaced(_ text: String, _ boundary: String) throws -> String {
        String(decoding: BoundaryMark(try #require(MultipartBoundary(boundary))).replaced(in: Array(text.utf8)), as: UTF8.self)
    }

    @Test func aBoundaryHasOneSpelling() throws {
        #expect(try self.replaced("<part-0123456789@0123456789>", "0123456789") == "<part-{{boundary}}@{{boundary}}>")
        #expect(try self.replaced("0123456", "0123456789") == "0123456")
        #expect(try self.replaced("", "0123456789") == "")
    }

    @Test func aShortBoundaryIsAWord() throws {
        #expect(try self.replaced("photo", "photo") == "photo")
    }
}

struct PartFacetTests {
    private func facets(_ head: [String], _ data: String, _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(MatchFixture.multipart("0123456789abcdef", [(head, data)]), MatchFixture.parts("0123456789abcdef"), rules)
    }

    private let file = "Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\""

    /// Two header sections with their data, and the difference between them.
    @Test func nameFilenameTypeAndContentCount() {
        let recorded = self.facets([self.file, "Content-Type: image/png"], "data")
        let other = self.file.replacing("a.png", with: "b.png")
        for (head, data, why) in [
            ([other, "Content-Type: image/png"], "data", "part \"photo\" has the filename \"b.png\", recorded is \"a.png\""),
            (
                ["Content-Disposition: form-data; name=\"photo\"", "Content-Type: image/png"], "data",
                "part \"photo\" has no filename, recorded is \"a.png\""
            ),
            ([self.file, "Content-Type: image/gif"], "data", "part \"photo\" has the type \"image/gif\", recorded is \"image/png\""),
            ([self.file], "data", "part \"photo\" has no type, recorded is \"image/png\""),
            ([self.file, "Content-Type: image/png"], "dato", "part \"photo\" is \"dato\", recorded is \"data\""),
        ] {
            #expect(self.facets(head, data) != recorded, "\(why)")
            #expect(self.facets(head, data).differences(fromRecorded: recorded).map(\.description) == [why])
        }
    }

    @Test func spellingAndOtherFieldsDoNot() {
        let recorded = self.facets([self.file, "Content-Type: text/plain; charset=UTF-8"], "data")
        for head in [
            ["content-disposition:form-data;name=photo;filename=a.png", "content-type: Text/Plain;charset=\"utf-8\""],
            [self.file, "Content-Type: text/plain; charset=UTF-8; format=flowed", "Content-ID: <1>"],
        ] {
            #expect(self.facets(head, "data") == recorded)
        }
        #expect(self.facets([self.file, "Content-Type: text/plain"], "data") != recorded)
    }

    /// Other parts refer to them, or they say which part of what it is.
    @Test(arguments: ["Content-ID: <@>", "Content-Range: bytes 0-3/1@", "Content-Language: @", "X-Path: /@", "Content-Encoding: @"])
    func otherFieldsOfPartsCount(field: String) throws {
        let type = ["Content-Type: multipart/related; boundary=0123456789abcdef"]
        func facets(_ first: String, _ second: String, _ rules: MatchRules = .standard) -> BodyFacets {
            let parts = [("1", first), ("2", second)].map { ([field.replacing("@", with: $0.1), "Content-Type: text/plain"], $0.0) }
            return MatchFixture.live(MatchFixture.multipart("0123456789abcdef", parts), type, rules)
        }
        #expect(facets("a", "b") == facets("a", "b") && facets("a", "b") != facets("b", "a"))
        let name = String(field.prefix { $0 != ":" }).lowercased()
        let differences = facets("a", "b").differences(fromRecorded: facets("a", "c"))
        #expect(differences.count == 1 && differences[0].ignorablePlace == "part:2|header:\(name)", "\(differences)")
        let rules = try MatchRules(ignore: ["part:2|header:\(name)"])
        #expect(facets("a", "b", rules) == facets("a", "c", rules) && facets("a", "b", rules) != facets("d", "b", rules))
    }

    /// Programs make a new one for each request.
    @Test(arguments: ["<b29c5de2-0db4-490b-b421-6a51b598bd22+1>", "<item1:12930812@a.test>", "<rootpart*6c7d9f01@b>"])
    func aRandomIDDoesNotCount(id: String) {
        let type = ["Content-Type: multipart/mixed; boundary=0123456789abcdef"]
        let bodies = [id, id.replacing("1", with: "7"), "<1>"].map { id in
            MatchFixture.live(MatchFixture.multipart("0123456789abcdef", [(["Content-ID: \(id)", "Content-Type: text/plain"], "a")]), type)
        }
        #expect(bodies[0] == bodies[1] && bodies[0] != bodies[2])
    }

    /// JSON has no charset other than UTF-8 (RFC 8259, 8.1).
    @Test func theCharsetOfJSONCountsOnlyIfItIsNotUTF8() {
        let plain = self.facets(["Content-Type: application/json"], #"{"a":1}"#)
        for type in ["application/json; charset=UTF-8", "Application/JSON;charset=\"utf-8\""] {
            #expect(self.facets(["Content-Type: \(type)"], #"{"a":1}"#) == plain)
            #expect(self.facets(["Content-Type: \(type)"], #"{"a":2}"#) != plain)
        }
        #expect(self.facets(["Content-Type: application/json; charset=utf-16"], #"{"a":1}"#) != plain)
        #expect(
            self.facets(["Content-Type: application/vnd.api+json; charset=utf-8"], "{}")
                == self.facets(["Content-Type: application/vnd.api+json"], "{}"))
    }

    @Test func transferEncodingsAreDecoded() {
        let plain = self.facets([self.file], "hello?>")
        #expect(self.facets([self.file, "Content-Transfer-Encoding: base64"], "aGVsbG8/\r\nPg==") == plain)
        #expect(self.facets([self.file, "Content-Transfer-Encoding: quoted-printable"], "hel=6Co=\r\n?>") == plain)
        #expect(self.facets([self.file, "Content-Transfer-Encoding: binary"], "hello?>") == plain)
        #expect(self.facets([self.file, "Content-Transfer-Encoding: x-own"], "hello?>") != plain)
        #expect(self.facets([self.file, "Content-Transfer-Encoding: base64"], "aGVsbG8/Pw==") != plain)
    }

    @Test func partsCanBeIgnoredOrMatched() throws {
        let rules = try MatchRules(ignore: ["part:photo"])
        #expect(self.facets([self.file], "1", rules) == self.facets([self.file], "2", rules))
        let pattern = try MatchRules(patterns: ["part:photo=[0-9]+"])
        #expect(self.facets([self.file], "1", pattern) == self.facets([self.file], "22", pattern))
        #expect(self.facets([self.file], "1", pattern) != self.facets([self.file], "x", pattern))
        #expect(self.facets([self.file], "x", pattern) != self.facets([self.file], "y", pattern))
    }

    @Test func aFileNameAloneCanBeIgnoredOrMatched() throws {
        let other = self.file.replacing("a.png", with: "photo-3F2504E0.jpg")
        let rules = try MatchRules(ignore: ["filename:photo"])
        #expect(self.facets([self.file], "1", rules) == self.facets([other], "1", rules))
        // The rest of the part counts, and so does whether it is a file.
        #expect(self.facets([self.file], "1", rules) != self.facets([other], "2", rules))
        #expect(self.facets([self.file, "Content-Type: a/b"], "1", rules) != self.facets([other], "1", rules))
        #expect(self.facets([self.file], "1", rules) != self.facets(["Content-Disposition: form-data; name=\"photo\""], "1", rules))
        let elsewhere = self.file.replacing("\"photo\"", with: "\"scan\"")
        #expect(self.facets([elsewhere], "1", rules) != self.facets([elsewhere.replacing("a.png", with: "b.png")], "1", rules))
        // RFC 8187, 3.2.
        let extended = "Content-Disposition: form-data; name=photo; filename*=UTF-8''%E3%83%8D.jpg"
        #expect(self.facets([self.file], "1", rules) == self.facets([extended], "1", rules))

        let pattern = try MatchRules(patterns: ["filename:photo=photo-[0-9A-F]+\\.jpg"])
        let another = other.replacing("3F2504E0", with: "00")
        #expect(self.facets([another], "1", pattern) == self.facets([other], "1", pattern))
        #expect(self.facets([self.file], "1", pattern) != self.facets([other], "1", pattern))
        #expect(self.facets([another], "1", pattern) != self.facets([other], "2", pattern))
    }

    @Test func placeholdersAreAlike() {
        #expect(self.facets([self.file], "{{password:1}}") == self.facets([self.file], "{{password:2}}"))
        #expect(self.facets([self.file], "{{password:1}}").hasMarks)
    }

    @Test func aPartThatIsNoMultipartIsItsBytes() {
        let head = [self.file, "Content-Type: multipart/mixed; boundary=inner"]
        #expect(self.facets(head, "no parts") != self.facets(head, "no part"))
        #expect(self.facets(head, "no parts") == self.facets(head, "no parts"))
    }
}
