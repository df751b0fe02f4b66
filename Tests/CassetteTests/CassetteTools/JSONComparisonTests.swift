@testable import CassetteTools
@testable import TapeBytes
import Testing

@Suite struct JSONComparisonTests {
    private func changes(_ old: String, _ new: String) throws -> [String] {
        let comparison = JSONComparison(try JSONDocument(Array(old.utf8)).root, try JSONDocument(Array(new.utf8)).root)
        return comparison.changes.map { "\($0.pointer): \($0.old ?? "-") \($0.new ?? "-")" }
    }

    @Test(arguments: [
        (#"{"a":1,"b":[2]}"#, #"{ "b": [2.0], "a": 1e0 }"#), (#""\u0061é""#, #""a\u00e9""#), ("[]", "[ ]"), ("null", "null"),
        ("0.1", "1e-1"),
    ])
    func spellingDoesNotCount(old: String, new: String) throws {
        #expect(try self.changes(old, new) == [])
    }

    @Test(
        arguments: [
            (#"{"a":{"b":1}}"#, #"{"a":{"b":2}}"#, ["/a/b: 1 2"]), (#"{"a":1}"#, #"{"b":1}"#, ["/a: 1 -", "/b: - 1"]),
            ("1", "\"1\"", [": 1 \"1\""]),
            ("[1,2,3]", "[1,9,2,3]", ["/1: - 9"]), ("[1,2,3]", "[1,3]", ["/1: 2 -"]), ("[1,2]", "[2,1]", ["/0: 1 2", "/1: 2 1"]),
            (#"{"a/b":1,"c~":2}"#, #"{"a/b":2,"c~":3}"#, ["/a~1b: 1 2", "/c~0: 2 3"]), (#"{"a":1,"a":2}"#, #"{"a":1,"a":3}"#, ["/a: 2 3"]),
            ("12345678901234567", "12345678901234568", [": 12345678901234567 12345678901234568"]), ("{}", "[]", [": {} []"]),
            ("true", "false", [": true false"]),
        ] as [(String, String, [String])])
    func aChangeIsNamedByItsPointer(old: String, new: String, wanted: [String]) throws {
        #expect(try self.changes(old, new) == wanted)
    }

    /// Each level has one element more than the other text's: comparing each of them twice would take 2 to the 90th steps.
    @Test func deepListsOfOtherLengthsAreComparedOnce() throws {
        let depth = 90
        let old = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        let new = String(repeating: "[", count: depth) + "2" + String(repeating: ",0]", count: depth)
        let changes = try self.changes(old, new)
        #expect(changes.first == String(repeating: "/0", count: depth) + ": 1 2")
        #expect(changes.count == JSONComparison.limit)
    }

    @Test func manyChangesAreCut() throws {
        let numbers = { (start: Int) in "[" + (start..<start + 200).map(String.init).joined(separator: ",") + "]" }
        let comparison = JSONComparison(try JSONDocument(Array(numbers(0).utf8)).root, try JSONDocument(Array(numbers(1000).utf8)).root)
        #expect(comparison.changes.count == JSONComparison.limit)
        #expect(comparison.isCut)
    }
}
