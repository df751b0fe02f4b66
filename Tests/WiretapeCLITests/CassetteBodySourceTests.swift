import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct CassetteBodySourceTests {
    @Test func aRawBodyIsHandedOutWithItsCodingTakenOff() throws {
        let folder = try TemporaryFolder()
        try #require(try Python.run("undeveloped.py", [folder.file("pets.json")]).status == 0)
        let cassette = try RecordedCassette(path: folder.file("pets.json"))
        let body = try #require(try cassette.interaction(at: 0).response?.body)
        var octets: [UInt8] = []
        try CassetteBodySource(path: folder.file("pets.json")).read(body) { octets += $0 }
        // Codings that are not developed yet stay on: an export shows the octets as they came.
        #expect(octets.starts(with: [0x1f, 0x8b]) || octets.starts(with: Array("{\"name\": \"Bori\"".utf8)))
    }
}
