import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct SearchedBodiesTests {
    private static let octets = [UInt8](repeating: 7, count: SearchedBodies.smallest)

    private func key(_ octets: [UInt8] = Self.octets, _ fields: [String] = ["Content-Type: text/plain"], isComplete: Bool = true)
        -> SearchedBodies.Key?
    {
        SearchedBodies.Key(CapturedBody(.memory(octets), arrival: nil, isComplete: isComplete), HeaderFields(fields))
    }

    @Test func knowsABodyAgainAsLongAsNoMoreSecretsAreKnown() {
        let searched = SearchedBodies()
        searched.insert(self.key(), at: 3)
        #expect(searched.contains(self.key(), at: 3))
        #expect(!searched.contains(self.key(), at: 4))
        searched.insert(self.key(), at: 4)
        #expect(searched.contains(self.key(), at: 4))
        #expect(!searched.contains(self.key(), at: 3))
    }

    @Test(arguments: [
        (Self.octets + [0], ["Content-Type: text/plain"], true), (Self.octets, ["Content-Type: application/json"], true),
        (Self.octets, ["Content-Type: text/plain", "Content-Encoding: gzip"], true), (Self.octets, [], true),
        (Self.octets, ["Content-Type: text/plain"], false),
    ])
    func whateverASearchDependsOnTellsBodiesApart(octets: [UInt8], fields: [String], isComplete: Bool) {
        let searched = SearchedBodies()
        searched.insert(self.key(), at: 0)
        #expect(!searched.contains(self.key(octets, fields, isComplete: isComplete), at: 0))
    }

    @Test func whatStandsBesideTheSizesOfChunksIsSearchedEachTime() {
        func key(_ line: String?, last: String? = nil) -> SearchedBodies.Key? {
            let pieces = [Arrival.Piece(at: 0, size: Self.octets.count, line: line)]
            let arrival = Arrival(isChunked: true, pieces: pieces, lastLine: last)
            return SearchedBodies.Key(CapturedBody(.memory(Self.octets), arrival: arrival, isComplete: true), HeaderFields())
        }
        #expect(key(nil) != nil)
        #expect(key("1000;token=kT7-pQ2xV9mZ4w") == nil)
        #expect(key(nil, last: "0;token=kT7-pQ2xV9mZ4w") == nil)
    }

    @Test func aSmallBodyIsSearchedEachTime() {
        #expect(self.key(Array(Self.octets.dropLast())) == nil)
        #expect(!SearchedBodies().contains(nil, at: 0))
    }

    @Test func fieldsTakeNoMemoryWithoutEnd() {
        #expect(self.key(Self.octets, ["Content-Type: text/" + String(repeating: "x", count: 2000)]) == nil)
    }

    @Test func aBodyInAFileIsKnownByItsDigest() throws {
        let folder = try TemporaryFolder()
        let spool = OpenSpool(try BodyStore(cassettePath: folder.file("tape.json")).makeSpool(), digest: PortableSHA256())
        try spool.write(Self.octets)
        let body = CapturedBody(.spool(spool), arrival: nil, isComplete: true)
        let key = try #require(SearchedBodies.Key(body, HeaderFields(["Content-Type: text/plain"])))
        let searched = SearchedBodies()
        searched.insert(key, at: 0)
        #expect(searched.contains(key, at: 0) && key.weight == 32)
    }

    @Test func remembersABoundedNumberOfOctets() {
        let searched = SearchedBodies()
        let keys = (0..<3000).map { self.key(Self.octets + [UInt8($0 & 255), UInt8($0 >> 8)]) }
        for (index, key) in keys.enumerated() {
            searched.insert(key, at: 0)
            #expect(searched.contains(key, at: 0))
            guard index % 500 == 0 else { continue }
            let held = keys.filter { searched.contains($0, at: 0) }.reduce(0) { $0 + ($1?.weight ?? 0) }
            #expect(held <= SearchedBodies.byteLimit)
        }
        #expect(!searched.contains(keys.first ?? nil, at: 0))
    }
}
