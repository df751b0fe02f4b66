import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct ConversationJournalTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func store(_ disk: DiskCalls = .system) throws -> BodyStore { try BodyStore(cassettePath: self.path, disk: disk) }

    private func inode(_ name: String) throws -> UInt64 {
        let number = try FileManager.default.attributesOfItem(atPath: self.folder.file("pets.bodies/\(name)"))[.systemFileNumber]
        return try #require(number as? NSNumber).uint64Value
    }

    @Test func messagesAreInTheirFileAsSoonAsTheyAreAppended() throws {
        let journal = try self.store().makeJournal(7, self.path)
        #expect(try self.folder.names(in: "pets.bodies") == ["open-7.json"])
        try journal.append(ConversationFixtures.lines(0..<2), count: 2)
        try journal.append(ConversationFixtures.lines(2..<3), count: 1)
        #expect(try self.folder.names(in: "pets.bodies") == ["open-7.json", "open-7.jsonl"])
        #expect(try self.folder.read("pets.bodies/open-7.jsonl") == ConversationFixtures.lines(0..<3))
        #expect(journal.count == 3)
    }

    @Test func fewMessagesAreReadBack() throws {
        let journal = try self.store().makeJournal(7, self.path)
        #expect(try journal.finish() == .inline([]))
        try journal.append(ConversationFixtures.lines(0..<5), count: 5)
        #expect(try journal.finish(inlineLimit: ConversationFixtures.lines(0..<5).count) == .inline(ConversationFixtures.lines(0..<5)))
        try journal.remove()
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
    }

    @Test func manyMessagesBecomeASidecarAsTheyAre() throws {
        let journal = try self.store().makeJournal(7, self.path)
        let lines = ConversationFixtures.lines(0..<100)
        try journal.append(lines, count: 100)
        let file = try self.inode("open-7.jsonl")
        let digest = CareFolder.digest(lines)
        let sidecar = Sidecar(path: "pets.bodies/\(digest).jsonl", size: lines.count, sha256: digest)
        #expect(try journal.finish(inlineLimit: lines.count - 1) == .file(sidecar, count: 100))
        #expect(try self.inode("\(digest).jsonl") == file, "it was copied")
        #expect(try self.folder.names(in: "pets.bodies").contains("open-7.jsonl"), "a kill now would lose it")
        try journal.remove()
        #expect(try self.folder.names(in: "pets.bodies") == ["\(digest).jsonl"])
        #expect(try BodyReader(cassettePath: self.path).read(sidecar, digest: PortableSHA256()) == lines)
    }

    @Test func aFileSystemWithoutSecondNamesGetsACopy() throws {
        var disk = DiskCalls.system
        disk.link = { _, _, _ in -Int(EPERM) }
        let journal = try self.store(disk).makeJournal(7, self.path)
        let lines = ConversationFixtures.lines(0..<100)
        try journal.append(lines, count: 100)
        guard case .file(let sidecar, count: 100) = try journal.finish(inlineLimit: 0) else { return #expect(Bool(false)) }
        try journal.remove()
        #expect(try self.folder.read(sidecar.path) == lines)
        #expect(try self.folder.names(in: "pets.bodies").count == 1)
    }

    @Test func equalConversationsHaveOneSidecar() throws {
        let store = try self.store()
        var sidecars: Set<ConversationMessages> = []
        for id in 1...2 {
            let journal = try store.makeJournal(id, self.path)
            try journal.append(ConversationFixtures.lines(0..<9), count: 9)
            sidecars.insert(try journal.finish(inlineLimit: 0))
            try journal.remove()
        }
        #expect(sidecars.count == 1)
        #expect(try self.folder.names(in: "pets.bodies").count == 1)
    }

    @Test func anOpenConversationHasNoFileOpen() throws {
        func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let store = try self.store()
        _ = try store.makeJournal(1, self.path)
        var journals: [ConversationJournal] = []
        let before = try open()
        for id in 2...301 {
            let journal = try store.makeJournal(id, self.path)
            try journal.append(ConversationFixtures.line(1), count: 1)
            journals.append(journal)
        }
        // Other tests run concurrently.
        #expect(try open() < before + 150, "each has one")
    }

    @Test func recordingsThatShareAFolderDoNotTakeEachOthersJournals() throws {
        let store = try self.store()
        let first = try store.makeJournal(7, self.path)
        let second = try self.store().makeJournal(7, self.folder.file("pets.new.json"))
        try first.append(ConversationFixtures.lines(0..<1), count: 1)
        try second.append(ConversationFixtures.lines(5..<6), count: 1)
        #expect(try self.folder.names(in: "pets.bodies") == ["open-7-2.json", "open-7-2.jsonl", "open-7.json", "open-7.jsonl"])
        #expect(try first.finish() == .inline(ConversationFixtures.lines(0..<1)))
        #expect(try second.finish() == .inline(ConversationFixtures.lines(5..<6)))
    }

    @Test func aLinkInsteadOfAJournalIsNotFollowed() throws {
        let victim = try self.folder.write(Array("precious".utf8), to: "victim")
        let store = try self.store()
        let journal = try store.makeJournal(7, self.path)
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("pets.bodies/open-7.jsonl"), withDestinationPath: victim)
        #expect(cassetteError { try journal.append(ConversationFixtures.line(1), count: 1) } != nil)
        #expect(try self.folder.read("victim") == Array("precious".utf8))
    }

    /// Every call fails once; the refused messages are appended again.
    @Test func aCallThatFailsLosesAndRepeatsNothing() throws {
        for limit in [0, 1 << 20] {
            var step = 0
            while true {
                let folder = try TemporaryFolder()
                let path = folder.file("pets.json")
                let disk = StepDisk()
                let store = try BodyStore(cassettePath: path, disk: disk.calls)
                disk.fail(step: step, with: [ENOSPC, EIO, EACCES][step % 3])
                var (failures, written) = (0, 0)
                func twice<Result>(_ body: () throws -> Result) throws -> Result {
                    do {
                        return try body()
                    } catch {
                        failures += 1
                        // If the process is killed now, the refused messages must not remain.
                        if folder.exists("pets.bodies/open-7.jsonl") {
                            #expect(try folder.read("pets.bodies/open-7.jsonl") == ConversationFixtures.lines(0..<written), "call \(step)")
                        }
                        return try body()
                    }
                }
                let journal = try twice { try store.makeJournal(7, path) }
                // If the first write fails halfway, the second one is longer than its remainder.
                for range in [0..<9, 9..<10, 10..<40] {
                    try twice { try journal.append(ConversationFixtures.lines(range), count: range.count) }
                    written = range.upperBound
                }
                let messages = try twice { try journal.finish(inlineLimit: limit) }
                try twice { try store.syncAll() }
                try twice { try journal.remove() }
                switch messages {
                case .inline(let lines): #expect(lines == ConversationFixtures.lines(0..<40), "call \(step)")
                case .file(let sidecar, let count):
                    #expect(try folder.read(sidecar.path) == ConversationFixtures.lines(0..<40), "call \(step)")
                    #expect(count == 40)
                }
                #expect(try folder.names(in: "pets.bodies").count == (limit == 0 ? 1 : 0), "call \(step)")
                guard disk.steps > step else { break }
                #expect(failures <= 1)
                step += 1
            }
            #expect(step > 8)
        }
    }
}
