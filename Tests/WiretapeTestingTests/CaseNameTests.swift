import Foundation
import Testing

@testable import WiretapeTesting

@Suite struct CaseNameTests {
    enum Kind { case cat }

    private struct Pet: CustomTestStringConvertible { var testDescription: String { "a/b" } }

    @Test func argumentsAreTheName() {
        #expect(CaseName.text([1]) == "1")
        #expect(CaseName.text([Kind.cat, 2]) == "cat-2")
        #expect(CaseName.text(["two pets", true]) == "two pets-true")
        #expect(CaseName.text(["이름"]) == "이름")
    }

    @Test func argumentsThatAreNoFileNamesStayDistinct() {
        let names = [["a/b"], ["a-b"], ["a", "b"], ["a:b"], [""], ["\u{202E}"], [Pet()]].map { CaseName.text($0 as [Any]) }
        #expect(names[1] == "a-b" && names[0].hasPrefix("a-b-") && names[4].count == 8, "\(names)")
        #expect(Set(names.indices.filter { $0 != 2 }.map { names[$0] }).count == 6, "\(names)")
        let long = ["x", "y"].map { CaseName.text([String(repeating: "길", count: 500) + $0]) }
        #expect(long[0] != long[1] && long[0].unicodeScalars.count == 89)
    }

    @Test func equalArgumentsAreCounted() {
        #expect(CaseName.text([1], count: 2) == "1-3")
    }

    @Test(arguments: [Kind.cat], [7]) func theArgumentsOfARunningTestAreFound(kind: Kind, number: Int) throws {
        #expect(try CaseName.text(of: #require(Test.Case.current)) == "cat-7")
    }

    @Test(arguments: [("a", 1)]) func aTupleIsOneArgument(pair: (String, Int)) throws {
        #expect(try CaseName.text(of: #require(Test.Case.current))?.contains("a") == true)
    }

    /// Every run would record a new cassette, and replay none.
    @Test(arguments: [UUID()]) func aUUIDIsRefused(id: UUID) throws {
        let testCase = try #require(Test.Case.current)
        let error = #expect(throws: CassetteTestError.self) { try CaseName.text(of: testCase) }
        #expect(error?.message.contains("withCassette(") == true)
    }

    @Test func aTestWithoutArgumentsHasNoName() throws {
        #expect(try CaseName.text(of: #require(Test.Case.current)) == nil)
    }
}
