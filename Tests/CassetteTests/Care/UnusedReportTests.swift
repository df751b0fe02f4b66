@testable import TapeBytes
import Testing

@testable import CassetteModel
@testable import CassetteTools

@Suite struct UnusedReportTests {
    @Test(
        arguments: [
            (#"{"unused":[1,3]}"#, [1, 3]), (#"{"unused":2,"unusedExchanges":[{"exchange":1,"id":7,"request":"GET x"}]}"#, [7]),
            (#"{"unused":[]}"#, []),
        ] as [(String, [Int])])
    func idsAreRead(text: String, ids: [Int]) throws {
        #expect(try UnusedReport(Array(text.utf8), path: "r.json").exchanges.map(\.id) == ids)
    }

    @Test func aStartIsReadWhereItIsThere() throws {
        let text = #"{"unusedExchanges":[{"id":7,"started":"2026-11-21T04:19:28.123456Z"},{"id":8},{"id":9,"started":"soon"}]}"#
        let exchanges = try UnusedReport(Array(text.utf8), path: "r.json").exchanges
        #expect(exchanges.map(\.started) == [Timestamp("2026-11-21T04:19:28.123456Z"), nil, nil])
    }

    @Test func theCassetteIsKnownWhereItIsNamed() throws {
        #expect(try UnusedReport(Array(#"{"cassette":"a.json","unused":[]}"#.utf8), path: "r.json").cassette == "a.json")
    }

    @Test(arguments: [
        "", "[1]", "{}", #"{"unused":3}"#, #"{"unused":["x"]}"#, #"{"unusedExchanges":[{"exchange":1}]}"#, #"{"unused":[1.5]}"#,
    ])
    func whatIsNoReportIsRefused(text: String) {
        let error = cassetteError { _ = try UnusedReport(Array(text.utf8), path: "r.json") }
        #expect(error?.message.contains("\"r.json\"") == true)
    }
}
