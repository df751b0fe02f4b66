@testable import CassetteModel
@testable import CassetteStore
import Foundation
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct CassetteAppenderTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func create(_ disk: DiskCalls = .system) throws -> CassetteAppender {
        try CassetteAppender.create(self.path, recorder: "wiretape 0.1.0", disk: disk)
    }

    private func open(_ disk: DiskCalls = .system) throws -> CassetteAppender {
        try CassetteAppender.open(self.path, recorder: "wiretape 0.1.0", disk: disk)
    }

    private func texts() throws -> [String] {
        let reader = try CassetteReader(path: self.path)
        #expect(reader.damage == nil)
        #expect(isJSON(self.path))
        return try allInteractions(reader)
    }

    @Test func aNewCassetteIsAnEmptyDocument() throws {
        let appender = try self.create()
        #expect(
            String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
                == "{\n  \"wiretape\": 2,\n  \"recorder\": \"wiretape 0.1.0\",\n  \"interactions\": []\n}\n")
        #expect(appender.count == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: self.path)[.posixPermissions] as? Int == 0o644)
    }

    /// Wherever the version is, a reader of version 1 must not accept the appended bytes.
    @Test(arguments: [
        "{\"wiretape\": 1, \"x\": [\"wiretape\", 1], \"interactions\": [ {\"id\":1} ]}", "{\"interactions\":[{\"id\":1}],\"wiretape\": 1 }",
        "{\"wiretape\":1,\"interactions\":[]}",
    ])
    func anOlderCassetteIsRaisedBeforeAnythingIsAppended(_ text: String) throws {
        try self.folder.write(Array(text.utf8), to: "pets.json")
        let untouched = try self.open()
        #expect(try self.folder.read("pets.json") == Array(text.utf8))
        try untouched.append([SampleCassette.interaction(2)])
        _ = try untouched.finish()
        let raised = String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
        #expect(raised.contains(#/"wiretape": ?2/#) && !raised.contains(#/"wiretape": ?1/#))
        #expect(try self.texts().last == sampleTexts([2]).first)
        #expect(try CassetteReader(path: self.path).count == (text.contains("id") ? 2 : 1))
    }

    @Test func aKillBetweenTheVersionAndTheFirstWriteLeavesAWholeCassette() throws {
        let disk = FaultyDisk()
        try self.folder.write(Array("{\"wiretape\": 1, \"interactions\": []}".utf8), to: "pets.json")
        let appender = try self.open(disk.calls)
        disk.with { $0.syncError = EIO }
        #expect(throws: CassetteError.self) { try appender.append([SampleCassette.interaction(1)]) }
        #expect(try self.texts() == [])
        disk.with { $0.syncError = 0 }
        try appender.append([SampleCassette.interaction(2)])
        #expect(try self.texts() == sampleTexts([2]))
    }

    @Test func rollBackRemovesExchangesFromTheFile() throws {
        let disk = FaultyDisk()
        let appender = try self.create(disk.calls)
        let empty = appender.mark
        try appender.append([SampleCassette.interaction(1)])
        let one = appender.mark
        try appender.append([SampleCassette.interaction(2), SampleCassette.interaction(3)])
        try appender.rollBack(to: one)
        #expect(try self.texts() == sampleTexts([1]) && appender.count == 1)
        try appender.append([SampleCassette.interaction(4)])
        // If the rollback fails, it runs again before the next operation.
        disk.with { $0.truncateError = EIO }
        #expect(throws: CassetteError.self) { try appender.rollBack(to: one) }
        disk.with { $0.truncateError = 0 }
        try appender.append([SampleCassette.interaction(5)])
        #expect(try self.texts() == sampleTexts([1, 5]))
        try appender.rollBack(to: empty)
        #expect(try self.texts() == [])
        _ = try appender.finish()
    }

    @Test func writesFurtherMembersBeforeTheInteractions() throws {
        let member = UnknownMember(name: "a \"rule\"\n", json: Array("[1]".utf8))
        let appender = try CassetteAppender.create(self.path, recorder: "w", members: [member])
        try appender.append([SampleCassette.interaction(1)])
        #expect(try self.texts() == sampleTexts([1]))
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self).contains("  \"a \\\"rule\\\"\\u000a\": [1],\n"))
    }

    @Test func eachAppendLeavesAWholeDocument() throws {
        let appender = try self.create()
        for id in 1...5 {
            try appender.append([SampleCassette.interaction(id)])
            #expect(try self.texts() == sampleTexts(1...id))
        }
        #expect(try self.folder.read("pets.json") == SampleCassette.document(Array(1...5)))
        #expect(appender.size == SampleCassette.document(Array(1...5)).count)
    }

    @Test func severalAreOneWrite() throws {
        let disk = FaultyDisk()
        let appender = try self.create(disk.calls)
        disk.with { $0.writes = 0 }
        try appender.append((1...7).map { SampleCassette.interaction($0) })
        #expect(disk.with { $0.writes } == 1)
        #expect(try self.texts() == sampleTexts(1...7))
    }

    @Test func aFailedEncodingIsNotStaged() throws {
        let appender = try self.create()
        appender.stage { $0 += SampleCassette.interaction(1) }
        #expect(throws: CancellationError.self) {
            try appender.stage { bytes in
                bytes += [1, 2, 3]
                throw CancellationError()
            }
        }
        appender.stage { $0 += SampleCassette.interaction(2) }
        try appender.commit()
        #expect(try self.texts() == sampleTexts(1...2))
    }

    @Test func oneHundredThousandAppendsCostTheSameEach() throws {
        let disk = FaultyDisk()
        let appender = try self.create(disk.calls)
        disk.with { state in
            state.calls = 0
            state.written = 0
        }
        let interaction = Array("    {\n      \"id\": 1\n    }".utf8)
        for _ in 0..<100_000 { try appender.append([interaction]) }
        let (calls, written) = disk.with { ($0.calls, $0.written) }
        #expect(calls == 100_000)
        #expect(written <= 100_000 * (interaction.count + 2 + CassetteLayout.closing.count))
        #expect(try CassetteReader(path: self.path).count == 100_000)
    }

    @Test func goesOnWithAnExistingCassette() throws {
        try self.create().append([SampleCassette.interaction(1)])
        try self.open().append([SampleCassette.interaction(2)])
        try self.open().append([SampleCassette.interaction(3), SampleCassette.interaction(4)])
        #expect(try self.folder.read("pets.json") == SampleCassette.document(Array(1...4)))
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test(arguments: [
        #"{"x":[{"y":"]"}],"wiretape":1,"interactions":[],"after":{"z":1}}"#,
        "{\"wiretape\": 1, \"interactions\": [ \n ] , \"after\": null }",
        #"{"wiretape":1,"interactions":[{"id":0}],"after":2}"#, "{\"wiretape\": 1, \"interactions\": [\n{\"id\":0}\n]\n, \"after\": 1}\n\n",
    ])
    func keepsOtherMembersAndAnyLayout(_ text: String) throws {
        try self.folder.write(Array(text.utf8), to: "pets.json")
        let existing = try CassetteReader(path: self.path).count
        let appender = try self.open()
        #expect(appender.repaired == nil)
        for id in 1...3 {
            try appender.append([SampleCassette.interaction(id)])
            #expect(try self.texts().suffix(from: existing) == sampleTexts(1...id)[...])
        }
        let end = String(decoding: try CassetteReader(path: self.path).tail(), as: UTF8.self)
        #expect(end.contains("\"after\""))
    }

    @Test func aSecondRecorderIsKeptOut() throws {
        let first = try self.create()
        #expect(cassetteError { _ = try self.open() }?.code == .inUse)
        try first.append([SampleCassette.interaction(1)])
        #expect(try CassetteReader(path: self.path).count == 1)
    }

    @Test func theLockEndsWithTheRecorder() throws {
        do { _ = try self.create() }
        _ = try self.open()
    }

    @Test func neverCreatesOverAFile() throws {
        try self.folder.write([1], to: "pets.json")
        #expect(cassetteError { _ = try self.create() }?.code == .unwritable)
        #expect(try self.folder.read("pets.json") == [1])
    }

    @Test func aLinkLeadsToTheFileThatIsWritten() throws {
        try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: "there/real.json")
        _ = try self.create()
        _ = try self.open()
        #expect(try self.folder.names() == ["pets.json", "there"] && self.folder.names(in: "there") == ["real.json"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: self.path) == "there/real.json")
    }

    @Test func aCircleOfLinksIsAnError() throws {
        try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: "pets.json")
        #expect(cassetteError { _ = try self.create() }?.code == .unsafePath)
        #expect(cassetteError { _ = try self.open() }?.code == .unsafePath)
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func makesTheFoldersOfANewCassette() throws {
        let path = self.folder.file("a/b/c.json")
        _ = try CassetteAppender.create(path, recorder: "w")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func interruptedAndShortWritesGoOn() throws {
        let disk = FaultyDisk()
        disk.with { state in
            state.interrupts = true
            state.writeLimit = 7
        }
        let appender = try self.create(disk.calls)
        for id in 1...3 { try appender.append([SampleCassette.interaction(id)]) }
        try appender.sync()
        #expect(try self.texts() == sampleTexts(1...3))
    }

    @Test func aFullDiskAtAnyByteLeavesTheFileAsItWas() throws {
        let disk = FaultyDisk()
        let appender = try self.create(disk.calls)
        try appender.append([SampleCassette.interaction(1)])
        let before = try self.folder.read("pets.json")
        for room in 0..<SampleCassette.interaction(2).count + 2 {
            disk.with { $0.end = before.count + room }
            let error = cassetteError { try appender.append([SampleCassette.interaction(2)]) }
            #expect(error?.code == .noSpace)
            #expect(error?.message.hasPrefix("1 exchange was not recorded") == true)
            #expect(try self.folder.read("pets.json") == before)
        }
        disk.with { $0.end = Int.max }
        try appender.append([SampleCassette.interaction(3)])
        #expect(try self.texts() == sampleTexts([1, 3]))
    }

    @Test func aDiskThatFailsOutrightLosesOnlyTheNewOnes() throws {
        let disk = FaultyDisk()
        let appender = try self.create(disk.calls)
        try appender.append([SampleCassette.interaction(1)])
        disk.with { state in
            state.writeError = EIO
            state.truncateError = EIO
            state.syncError = EIO
        }
        for id in 2...4 { #expect(cassetteError { try appender.append([SampleCassette.interaction(id)]) }?.code == .unwritable) }
        #expect(cassetteError { try appender.sync() }?.message.contains("EIO") == true)
        disk.with { $0 = FaultyDisk.State() }
        try appender.append([SampleCassette.interaction(5)])
        try appender.sync()
        #expect(try self.texts() == sampleTexts([1, 5]))
    }

    @Test func aCassetteThatCannotBeStartedIsRemoved() throws {
        let disk = FaultyDisk()
        disk.with { $0.end = 10 }
        #expect(cassetteError { _ = try self.create(disk.calls) }?.code == .noSpace)
        #expect(try self.folder.names().isEmpty)
    }

    /// `kill -9` in the middle of a write leaves the beginning of the new bytes over the old ones.
    @Test func aRecorderKilledInAnyWriteKeepsTheEarlierExchanges() throws {
        for existing in [[], [1], [1, 2]] {
            let old = SampleCassette.document(existing)
            let new = SampleCassette.document(existing + [3])
            let common = zip(old, new).prefix { $0 == $1 }.count
            for end in common..<new.count {
                try self.folder.write(Array(new[..<end]) + Array(old.dropFirst(end)), to: "pets.json")
                let reader = try CassetteReader(path: self.path)
                // The exchange is complete as soon as its last brace is written, with or without the closing brackets.
                let isThere = end >= new.count - CassetteLayout.closing.count
                #expect(try allInteractions(reader) == sampleTexts(isThere ? existing + [3] : existing), "killed at \(end)")
                #expect(reader.damage != nil || end >= new.count - 1 || end == common)
                let appender = try self.open()
                try appender.append([SampleCassette.interaction(4)])
                #expect(try self.texts() == sampleTexts((isThere ? existing + [3] : existing) + [4]), "killed at \(end)")
            }
        }
    }

    @Test func noPowerLossCostsASyncedExchangeOrInventsOne() throws {
        for seed in 0..<UInt64(rounds(600)) {
            var generator = SeededGenerator(seed: seed)
            let disk = PowerLossDisk()
            try? FileManager.default.removeItem(atPath: self.path)
            let (written, synced) = try self.recordAtRandom(disk, &generator)
            try self.folder.write(disk.afterPowerLoss(using: &generator), to: "pets.json")
            do {
                let found = try allInteractions(CassetteReader(path: self.path))
                #expect(Array(found.prefix(synced)) == Array(written.prefix(synced)), "seed \(seed)")
                #expect(Set(written).isSuperset(of: found), "seed \(seed)")

                try self.open().append([SampleCassette.interaction(99)])
                #expect(try self.texts() == found + sampleTexts([99]), "seed \(seed)")
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// Records until the power fails, and returns the written exchanges and the number of synced ones.
    private func recordAtRandom(_ disk: PowerLossDisk, _ generator: inout SeededGenerator) throws -> (written: [String], synced: Int) {
        let appender = try self.create(disk.calls)
        var written: [String] = []
        var synced = 0
        var id = 0
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            var batch: [[UInt8]] = []
            var end = appender.size - CassetteLayout.closing.count
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                id += 1
                let size = [0, 60, 400, 1500].randomElement(using: &generator) ?? 0
                // Half of them end so that the closing brackets cross a sector boundary.
                let free = (end + 2 + SampleCassette.interaction(id, size: size).count) % 512
                let padding = Bool.random(using: &generator) ? 512 - free + Int.random(in: -9...1, using: &generator) : 0
                batch.append(SampleCassette.interaction(id, size: size, padding: max(0, padding)))
                end += 2 + batch[batch.count - 1].count
            }
            try appender.append(batch)
            written += batch.map { String(decoding: $0.dropFirst(4), as: UTF8.self) }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                try appender.sync()
                synced = written.count
            }
        }
        return (written, synced)
    }
}
