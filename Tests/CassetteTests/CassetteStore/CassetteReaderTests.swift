@testable import CassetteModel
@testable import CassetteStore
import Foundation
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct CassetteReaderTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    @Test func aMissingCassetteIsNotFound() {
        #expect(cassetteError { _ = try CassetteReader(path: self.folder.file("pets.json")) }?.code == .notFound)
    }

    @Test func neverWrites() throws {
        let bytes = Array(SampleCassette.document([1, 2]).dropLast(30))
        let path = try self.folder.write(bytes, to: "pets.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        let reader = try CassetteReader(path: path)
        #expect(reader.damage?.interactions == 1)
        #expect(try reader.tail().isEmpty)
        #expect(try self.folder.read("pets.json") == bytes)
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func namesLines() throws {
        let bytes = SampleCassette.document([1, 2, 3])
        let reader = try CassetteReader(path: self.folder.write(bytes, to: "pets.json"))
        for index in 0..<3 {
            #expect(try reader.line(at: index) == bytes[..<reader.range(at: index).lowerBound].count { $0 == 0x0a } + 1)
        }
    }

    @Test func manyThreadsReadAtOnce() async throws {
        let reader = try CassetteReader(path: self.folder.write(SampleCassette.document(Array(1...50)), to: "pets.json"))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<50 { group.addTask { try reader.bytes(at: index) == SampleCassette.element(index + 1) } }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test func aFileThatShrinksMeanwhileIsAnError() throws {
        let path = try self.folder.write(SampleCassette.document([1, 2]), to: "pets.json")
        let reader = try CassetteReader(path: path)
        #expect(truncate(path, 200) == 0)
        #expect(cassetteError { _ = try reader.bytes(at: 1) }?.code == .unreadable)
    }
}

@Suite struct CassetteDamageTests {
    private func stretch(_ interactions: Int?) -> CassetteDamage.Stretch {
        CassetteDamage.Stretch(bytes: 100..<150, line: 7, reason: "the end is missing", interactions: interactions)
    }

    @Test func lossesAreSummedUp() {
        var damage = CassetteDamage(path: "pets.json", stretches: [self.stretch(1)])
        #expect(damage.summary == "\"pets.json\" is torn: 1 exchange lost, 50 bytes left out, from line 7 (the end is missing)")
        damage.stretches.append(self.stretch(2))
        damage.keptAt = "pets.json.torn-1"
        #expect(damage.interactions == 3)
        #expect(damage.byteCount == 100)
        #expect(damage.summary.hasSuffix("and in 1 more places; the bytes are kept in \"pets.json.torn-1\""))
    }

    @Test func oneUnknownCountMakesTheSumUnknown() {
        let damage = CassetteDamage(path: "pets.json", stretches: [self.stretch(1), self.stretch(nil)])
        #expect(damage.interactions == nil)
        #expect(damage.summary.contains("an unknown number of exchanges lost"))
    }
}

@Suite struct CassetteIndexTests {
    @Test func theNextInteractionGoesAfterTheLast() {
        var index = CassetteIndex()
        index.headEnd = 30
        index.interactions = [34..<80, 86..<120]
        index.arrayEnd = 123
        #expect(index.insertion == 120)
    }

    @Test func theFirstInteractionGoesAfterTheBracket() {
        var index = CassetteIndex()
        index.headEnd = 30
        #expect(index.insertion == 30)
    }

    @Test func aFileTornBeforeTheBracketHasNoPlace() {
        #expect(CassetteIndex().insertion == nil)
    }
}

@Suite struct CassetteLayoutTests {
    @Test func theHeadEndsWithTheOpenArray() {
        let members = [UnknownMember(name: "rules", json: Array("[]".utf8))]
        #expect(
            String(decoding: CassetteLayout.head(recorder: "a \"b\"\\\u{1}", members: members), as: UTF8.self)
                == "{\n  \"wiretape\": 2,\n  \"recorder\": \"a \\\"b\\\"\\\\\\u0001\",\n  \"rules\": [],\n  \"interactions\": [")
    }

    @Test func theHeadBeginsAsTheScannerExpects() {
        #expect(CassetteLayout.head(recorder: "w", members: []).starts(with: CassetteLayout.beginning))
    }
}
