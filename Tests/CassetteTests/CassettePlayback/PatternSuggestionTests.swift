@testable import CassettePlayback
import Testing

@Suite struct PatternSuggestionTests {
    @Test(
        arguments: [
            ("9", "8", "[0-9]+"), ("1.5", "-2", "-?[0-9]+(\\.[0-9]+)?"), ("2026-11-25", "2025-01-02", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
            ("2026-11-25T16:44:56Z", "2026-11-25T16:44:56.123+09:00", "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?"),
            (
                "00112233-4455-6677-8899-aabbccddeeff", "10112233-4455-6677-8899-AABBCCDDEEFF",
                "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
            ),
            ("deadbeef01", "0123abcd", "[0-9a-f]+"), ("dGhlIHNhbXBs4", "x_9-abcdef", "[A-Za-z0-9_-]+"),
        ])
    func valuesOfOneFormGetItsPattern(here: String, recorded: String, regex: String) throws {
        let text = PatternSuggestion.text(.queryItemChanged(here: "ts=\(here)", recorded: "ts=\(recorded)"))
        #expect(text == "query:ts=\(regex)")
        _ = try MatchRules(patterns: [try #require(text)])
        let pattern = try PlacePattern(try #require(text)).pattern
        #expect(pattern.matches(here) && pattern.matches(recorded), "both are equal by it")
    }

    @Test(arguments: [
        (
            "urn:uuid:00112233-4455-6677-8899-aabbccddeeff", "urn:uuid:00112233-4455-6677-8899-aabbccddee00",
            "urn:uuid:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
        ),
        (
            "00112233-4455-6677-8899-aabbccddeeff.txt", "10112233-4455-6677-8899-aabbccddeeff.txt",
            "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\.txt"
        ),
        ("report-2026-11-29.csv", "report-2026-11-30.csv", "report-[0-9]{4}-[0-9]{2}-[0-9]{2}\\.csv"),
        ("page (12).pdf", "page (13).pdf", nil), ("page(12).pdf", "page(13).pdf", "page\\([0-9]+\\)\\.pdf"),
        ("\"a1b2c3d4\"", "\"a1b2c3d5\"", "\"[0-9a-f]+\""), ("notes.txt", "cats.txt", nil), ("cat-1.txt", "dog-2.txt", nil),
        ("a…1", "a…2", nil), ("a\\u{1}", "a\\u{2}", nil),
    ])
    func aFormBetweenFixedWordsKeepsThem(here: String, recorded: String, regex: String?) throws {
        let values = [here, recorded].map { Array($0.utf8) }
        #expect(PatternSuggestion.form(of: values, mayHaveAffixes: true) == regex)
        #expect(regex == nil || PatternSuggestion.form(of: values) == nil)
        let pattern = try PlacePattern("header:a=\(regex ?? ".*")").pattern
        #expect(pattern.matches(here) && pattern.matches(recorded))
    }

    @Test(arguments: [
        (["1764000000", "1796012345"], "[0-9]{10}"), (["1764000000123", "1796012345678"], "[0-9]{13}"), (["12", "13"], "[0-9]+"),
        (["1764000000", "1764000000123"], "[0-9]+"), (["12345678901234567890", "22345678901234567891"], "[0-9]+"),
        (["deadbeef01", "0123abcd"], "[0-9a-f]{8,}"), (["deadbeefdeadbeef", "0123abcd0123abcd"], "[0-9a-f]{16}"),
        (["deadbeefdeadbeef", "0123abcd0123abcd01"], "[0-9a-f]{16,}"), (["dGhlIHNhbXBs4", "x_9xabcdef"], "[A-Za-z0-9_-]{8,}"),
        (["call_a1Qw23", "call_b7Zx90"], "call_[A-Za-z0-9_-]+"),
        (["call_a1Qw23a1Qw23a1Qw23", "call_b7Zx90b7Zx90b7Zx90"], "call_[A-Za-z0-9_-]{18}"),
    ])
    func lengthsThatValuesShareAreKept(values: [String], regex: String) throws {
        #expect(PatternSuggestion.form(of: values.map { Array($0.utf8) }) == regex)
        let pattern = try PlacePattern("query:a=\(regex)").pattern
        #expect(values.allSatisfy { pattern.matches($0) })
    }

    @Test func valuesOfDifferentFormsGetNone() {
        for (here, recorded) in [
            ("9", ""), ("9", "nine"), ("miso", "bori"), ("1.2.3", "4"), ("2026-11-25Tnoon", "2026-11-25T16:44:56Z"), ("…", "8"),
        ] {
            #expect(PatternSuggestion.text(.queryItemChanged(here: "a=\(here)", recorded: "a=\(recorded)")) == nil, "\(here) \(recorded)")
        }
        #expect(PatternSuggestion.text(.queryItemChanged(here: "a=1", recorded: "b=1")) == nil)
        #expect(PatternSuggestion.text(.method(here: "GET", recorded: "PUT")) == nil)
        #expect(PatternSuggestion.text(.header(name: "x-id", here: "1", recorded: nil)) == nil)
    }

    @Test func aPathKeepsTheSegmentsThatAreEqual() throws {
        #expect(
            PatternSuggestion.text(.path(here: "/pets/12/a.json", recorded: "/pets/7/a.json", edits: 1)) == "path=/pets/[0-9]+/a\\.json")
        #expect(PatternSuggestion.text(.path(here: "/pets/12", recorded: "/pets/miso", edits: 1)) == nil)
        #expect(PatternSuggestion.text(.path(here: "/pets/12", recorded: "/pets", edits: 1)) == nil)
    }

    @Test func stringsOfJSONAreComparedWithoutTheirQuotes() {
        #expect(PatternSuggestion.text(.json(pointer: "/id", here: "\"12345678\"", recorded: "\"9\"")) == "json:/id=[0-9]+")
        #expect(PatternSuggestion.text(.json(pointer: "/a=b", here: "1", recorded: "2")) == nil, "the first equals sign ends the place")
    }
}
