import Testing

@testable import CassettePlayback

struct PartFacetTests {
    private func facets(_ head: [String], _ data: String, _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(MatchFixture.multipart("0123456789abcdef", [(head, data)]), MatchFixture.parts("0123456789abcdef"), rules)
    }

    private let file = "Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\""

    /// Two header sections and their data, and why they differ.
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

    @Test func transferEncodingsAreTakenOff() {
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
