@testable import CassetteModel
@testable import CassetteStore
import TapeTestSupport
import Testing

@Suite struct CassetteRepairTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func open() throws -> CassetteAppender { try CassetteAppender.open(self.path, recorder: "wiretape 0.1.0") }

    @Test func aTornEndIsCutOffAndKept() throws {
        let whole = SampleCassette.document([1, 2, 3])
        try self.folder.write(Array(whole.dropLast(100)), to: "pets.json")
        let appender = try self.open()
        #expect(appender.count == 2)
        #expect(appender.repaired?.interactions == 1)
        #expect(appender.repaired?.keptAt == self.folder.file("pets.json.torn-1"))
        #expect(appender.repaired?.summary.contains("1 exchange lost") == true)
        #expect(try self.folder.read("pets.json") == SampleCassette.document([1, 2]))
        let kept = try self.folder.read("pets.json.torn-1")
        let end = SampleCassette.document([1, 2]).count - CassetteLayout.closing.count
        #expect(kept == Array(whole[end...].dropLast(100)))
    }

    @Test func keptBytesAreNeverOverwritten() throws {
        for number in 1...3 {
            try self.folder.write(Array(SampleCassette.document([1, 2]).dropLast(50 + number)), to: "pets.json")
            _ = try self.open()
        }
        #expect(try self.folder.names() == ["pets.json", "pets.json.torn-1", "pets.json.torn-2", "pets.json.torn-3"])
        #expect(try Set((1...3).map { try self.folder.read("pets.json.torn-\($0)") }).count == 3)
    }

    @Test func appendsGoOnAfterACutAtAnyByte() throws {
        let whole = SampleCassette.document([1, 2])
        let ends = [1, 2].map { SampleCassette.document(Array(1...$0)).count - CassetteLayout.closing.count }
        for cut in 0...whole.count {
            try self.folder.write(Array(whole[..<cut]), to: "pets.json")
            try self.open().append([SampleCassette.interaction(3), SampleCassette.interaction(4)])
            let ids = Array(1..<(ends.count { $0 <= cut } + 1)) + [3, 4]
            #expect(isJSON(self.path), "cut at \(cut)")
            if cut != whole.count - 1 {
                #expect(try self.folder.read("pets.json") == SampleCassette.document(ids), "cut at \(cut)")
            }
        }
    }

    @Test func appendsGoOnAfterZerosAndJunk() throws {
        var generator = SeededGenerator(seed: 4)
        let whole = SampleCassette.document([1, 2, 3])
        for _ in 0..<150 {
            let cut = Int.random(in: SampleCassette.head.count...whole.count, using: &generator)
            let isZero = Bool.random(using: &generator)
            let tail = (0..<Int.random(in: 40...700, using: &generator)).map { _ in
                isZero ? 0 : UInt8.random(in: 0...255, using: &generator)
            }
            try self.folder.write(Array(whole[..<cut]) + tail, to: "pets.json")
            let before = try allInteractions(CassetteReader(path: self.path))
            let appender = try self.open()
            #expect(appender.repaired?.keptAt != nil)
            try appender.append([SampleCassette.interaction(9)])
            let reader = try CassetteReader(path: self.path)
            #expect(reader.damage == nil)
            #expect(try allInteractions(reader) == before + sampleTexts([9]))
            #expect(isJSON(self.path))
        }
    }

    @Test func aHoleInTheMiddleIsTakenOutAndKept() throws {
        var bytes = SampleCassette.document(Array(1...20))
        for index in 2048..<2560 { bytes[index] = 0 }
        try self.folder.write(bytes, to: "pets.json")
        let intact = try allInteractions(CassetteReader(path: self.path))
        let appender = try self.open()
        #expect(appender.repaired?.interactions == nil)
        try appender.append([SampleCassette.interaction(21)])
        let reader = try CassetteReader(path: self.path)
        #expect(reader.damage == nil)
        #expect(try allInteractions(reader) == intact + sampleTexts([21]))
        #expect(isJSON(self.path))
        #expect(try self.folder.read("pets.json.torn-1").contains(0))
        #expect(cassetteError { _ = try self.open() }?.code == .inUse)
    }

    @Test func aWrongFileStaysAsItIs() throws {
        let bytes = Array(String(decoding: SampleCassette.document([1, 2]), as: UTF8.self).replacing("\"GET\",", with: "\"GET,").utf8)
        try self.folder.write(bytes, to: "pets.json")
        #expect(cassetteError { _ = try self.open() }?.code == .damaged)
        #expect(try self.folder.read("pets.json") == bytes)
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func otherMembersAfterTheInteractionsSurviveZeros() throws {
        let text = "{\"wiretape\":1,\"interactions\":[{\"id\":1}],\"after\":[2]}"
        try self.folder.write(Array(text.utf8) + [UInt8](repeating: 0, count: 100), to: "pets.json")
        _ = try self.open()
        #expect(try self.folder.read("pets.json") == Array("\(text)\n".utf8))
    }

    @Test func aMissingFileIsNotMade() {
        #expect(cassetteError { _ = try self.open() }?.code == .notFound)
    }

    @Test func tornEndStaysIfItCannotBeSaved() throws {
        let bytes = Array(SampleCassette.document([1, 2]).dropLast(50))
        try self.folder.write(bytes, to: "pets.json")
        let disk = FaultyDisk()
        disk.with { $0.end = 20 }
        #expect(cassetteError { _ = try CassetteAppender.open(self.path, recorder: "w", disk: disk.calls) }?.code == .noSpace)
        #expect(try self.folder.read("pets.json") == bytes)
        #expect(try self.folder.names() == ["pets.json"])
    }
}
