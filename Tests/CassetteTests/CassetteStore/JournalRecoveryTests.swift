import CassettePlayback
import CassetteTools
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore

@Suite struct JournalRecoveryTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    /// A cassette with exchange 1, and journals of open conversations next to it.
    private func killed(_ ids: [Int], messages: Int = 3, padding: Int = 0, of name: String = "pets.json") throws {
        if !self.folder.exists(name) {
            let appender = try CassetteAppender.create(self.folder.file(name), recorder: "test")
            try appender.append([ConversationFixtures.text(.care(1))])
        }
        let store = try BodyStore(cassettePath: self.path)
        for id in ids {
            let journal = try store.makeJournal(id, self.folder.file(name))
            try journal.append(ConversationFixtures.lines(0..<messages, padding: padding), count: messages)
        }
    }

    private func recover(_ path: String? = nil, disk: DiskCalls = .system) throws -> JournalRecovery.Outcome {
        let path = path ?? self.path
        let appender = try CassetteAppender.open(path, recorder: "test", disk: disk)
        return try JournalRecovery.run(appender, BodyStore(cassettePath: path, disk: disk), disk: disk)
    }

    private func findings(_ path: String? = nil) throws -> [CareFinding.Kind] {
        var kinds: [CareFinding.Kind] = []
        try CassetteVerifier(path: path ?? self.path).run { kinds.append($0.kind) }
        return kinds
    }

    // MARK: Recovery

    @Test func conversationOfAKilledRecorderIsCutByTheRecorder() throws {
        try self.killed([2, 3])
        #expect(try self.findings() == [.openConversation, .openConversation])
        let outcome = try self.recover()
        #expect(outcome.added == [2, 3] && outcome.lastID == 3 && outcome.notices.count == 1)
        let exchanges = try RecordedExchanges.read(self.path)
        #expect(exchanges.map(\.id) == [1, 2, 3])
        for exchange in exchanges.dropFirst() {
            guard case .cut(let cut) = exchange.outcome else { return #expect(Bool(false), "\(exchange.outcome)") }
            #expect(cut.by == .recorder)
            #expect(try ConversationFixtures.messages(exchange, beside: self.path) == [0, 1, 2])
        }
        #expect(isJSON(self.path))
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
        #expect(try self.findings().isEmpty)
        #expect(try self.recover() == JournalRecovery.Outcome())
    }

    @Test func aLongOneBecomesASidecar() throws {
        try self.killed([2], messages: 1200, padding: 1000)
        #expect(try self.recover().added == [2])
        let exchange = try #require(try RecordedExchanges.read(self.path).last)
        #expect(try ConversationFixtures.messages(exchange, beside: self.path) == Array(0..<1200))
        #expect(try self.folder.names(in: "pets.bodies").map { $0.hasSuffix(".jsonl") && !$0.hasPrefix("open") } == [true])
        #expect(try self.findings().isEmpty)
        #expect(try self.folder.read("pets.json").count < 10_000)
    }

    @Test func aReaderShowsThemAndWritesNothing() throws {
        for (messages, padding) in [(3, 0), (1200, 1000)] {
            let folder = try TemporaryFolder()
            let path = folder.file("pets.json")
            try CassetteAppender.create(path, recorder: "test").append([ConversationFixtures.text(.care(1))])
            let journal = try BodyStore(cassettePath: path).makeJournal(2, path)
            try journal.append(ConversationFixtures.lines(0..<messages, padding: padding), count: messages)
            let before = try folder.names(in: "pets.bodies").map { try folder.read("pets.bodies/\($0)") } + [folder.read("pets.json")]
            let cassette = try RecordedCassette(path: path)
            #expect(cassette.count == 2 && cassette.id(at: 1) == 2 && cassette.notices.count == 1)
            let exchange = try cassette.interaction(at: 1)
            #expect(try ConversationFixtures.messages(exchange, beside: path) == Array(0..<messages))
            // The recorder continues in the meantime.
            try journal.append(ConversationFixtures.lines(messages..<messages + 1), count: 1)
            #expect(try ConversationFixtures.messages(try cassette.interaction(at: 1), beside: path) == Array(0..<messages))
            _ = try journal.finish()
            #expect(try folder.names(in: "pets.bodies").count >= before.count - 1)
        }
    }

    @Test func aConversationThatEndsWhileItIsReadIsFoundInTheCassette() throws {
        try self.killed([2])
        let cassette = try RecordedCassette(path: self.path)
        _ = try self.recover()
        #expect(try ConversationFixtures.messages(try cassette.interaction(at: 1), beside: self.path) == [0, 1, 2])
        #expect(try RecordedCassette(path: self.path).notices.isEmpty)
    }

    @Test func aNumberThatIsTakenIsNotGivenTwice() throws {
        try self.killed([2])
        var other = ConversationFixtures.head(2)
        other.started = Timestamp(microseconds: 1)
        try CassetteAppender.open(self.path, recorder: "test").append([ConversationFixtures.text(other)])
        #expect(try self.recover().added == [3])
        #expect(try RecordedExchanges.read(self.path).map(\.id) == [1, 2, 3])
        #expect(try self.findings().isEmpty)
    }

    // MARK: Ownership

    @Test func anAdjacentRecordingKeepsItsOwnJournals() throws {
        try self.killed([2])
        try self.killed([2], messages: 5, of: "pets.new.json")
        #expect(try self.recover().added == [2])
        #expect(try ConversationFixtures.messages(RecordedExchanges.read(self.path)[1], beside: self.path) == [0, 1, 2])
        let new = self.folder.file("pets.new.json")
        #expect(try RecordedCassette(path: new).count == 2)
        #expect(try self.recover(new).added == [2])
        #expect(try ConversationFixtures.messages(RecordedExchanges.read(new)[1], beside: new) == [0, 1, 2, 3, 4])
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
    }

    @Test func journalWithoutACassetteIsKeptAndReported() throws {
        try self.killed([2])
        try self.killed([4], of: "pets.new.json")
        try FileManager.default.removeItem(atPath: self.folder.file("pets.new.json"))
        let outcome = try self.recover()
        #expect(outcome.added == [2])
        #expect(outcome.notices.contains { $0.contains("open-4.json") && $0.contains("pets.new.json") }, "\(outcome.notices)")
        #expect(try self.folder.names(in: "pets.bodies") == ["open-4.json", "open-4.jsonl"])
        #expect(try self.findings() == [.unusedFile])
    }

    @Test func filesOfOpenMessagesAreNotRemovedAsUnused() throws {
        try self.killed([2], of: "pets.new.json")
        let store = try BodyStore(cassettePath: self.path)
        let spool = try store.makeSpool()
        try spool.write([1, 2, 3])
        let sidecar = try spool.finish(sha256: CareFolder.digest([1, 2, 3]), ext: "bin")
        let journal = try store.makeJournal(3, self.folder.file("pets.new.json"))
        let line = Array("{ \"at\": 0, \"from\": \"client\", \"file\": \"\(sidecar.path)\", \"size\": 3 }\n".utf8)
        try journal.append(line, count: 1)
        try self.killed([])
        #expect(try CassetteReferences(familyOf: self.path).tidy(store) == 0)
        #expect(self.folder.exists(sidecar.path))
        // The same applies if the messages are in a file themselves.
        guard case .file(let messages, _) = try journal.finish(inlineLimit: 0) else { return #expect(Bool(false)) }
        var interaction = ConversationFixtures.head(3)
        interaction.webSocket = .file(messages, count: 1)
        try CassetteAppender.open(self.path, recorder: "test").append([ConversationFixtures.text(interaction)])
        try journal.remove()
        #expect(try CassetteReferences(familyOf: self.path).tidy(store) == 0)
        #expect(self.folder.exists(sidecar.path) && self.folder.exists(messages.path))
        // A merged cassette has copies of both.
        let merged = self.folder.file("all.json")
        _ = try CassetteMerger([self.path]).write(to: merged, recorder: "test")
        #expect(try self.findings(merged).isEmpty)
        let copy = try #require(try RecordedExchanges.read(merged).last?.webSocket?.sidecars.first)
        #expect(
            try self.folder.read(copy.path)
                == Array(String(decoding: line, as: UTF8.self).replacing("pets.bodies", with: "all.bodies").utf8))
        #expect(try self.folder.names(in: "all.bodies").count == 2)
    }

    @Test func othersWaitUntilItIsTakenIn() throws {
        try self.killed([2])
        #expect(cassetteError { _ = try CassetteMerger([self.path]) }?.message.contains("wiretape decode") == true)
        let outcome = try CassettePruner(path: self.path, exchanges: [(1, nil)]).run(isDry: false, recorder: "test")
        #expect(outcome.kept == 1)
        #expect(try RecordedExchanges.read(self.path).map(\.id) == [2])
    }

    // MARK: Damage

    @Test(arguments: [
        ("{ \"at\": 3, \"from\"", 3), ("{ \"at\": 3 } {}\n", 3), ("[]\n", 3), ("\n", 3), ("{ \"at\": 3, \"text\": \"\u{1}\" }\n", 3),
        (String(repeating: "\0", count: 3000), 3), ("{ \"at\": 3, \"from\": \"server\", \"ping\": \"\" }\nnot JSON\n{ \"at\": 5 }\n", 4),
        ("{ \"at\": 3, \"from\": \"server\" }\n", 3),
        ("{ \"at\": 3, \"text\": \"" + String(repeating: "x", count: 2 << 20) + "\" }\n{ \"at\": 4 }\n", 3),
    ])
    func messagesEndWhereTheyAreNoMessages(rest: String, count: Int) throws {
        try self.killed([2])
        let name = "pets.bodies/open-2.jsonl"
        try self.folder.write(try self.folder.read(name) + Array(rest.utf8), to: name)
        #expect(try RecordedCassette(path: self.path).count == 2)
        let outcome = try self.recover()
        #expect(outcome.notices.contains { $0.contains("left out") }, "\(outcome.notices)")
        #expect(try ConversationFixtures.messages(RecordedExchanges.read(self.path)[1], beside: self.path) == Array(0..<count))
        #expect(try self.findings().isEmpty)
    }

    @Test(arguments: ["", "{", "{}", "[]", "\0\0\0", "{ \"journal\": 2 }", "{ \"journal\": 1, \"cassette\": \"pets.json\" }"])
    func anInvalidHeadIsReportedAndStopsNothing(text: String) throws {
        try self.killed([2, 3])
        try self.folder.write(Array(text.utf8), to: "pets.bodies/open-2.json")
        let cassette = try RecordedCassette(path: self.path)
        #expect(cassette.count == 2 && cassette.notices.contains { $0.contains("open-2.json") })
        let outcome = try self.recover()
        #expect(outcome.added == [3] && outcome.notices.contains { $0.contains("open-2.json") })
        #expect(self.folder.exists("pets.bodies/open-2.jsonl"), "it may be all that is left")
        #expect(try self.findings() == [.unusedFile])
    }

    @Test func aHeadOfAnyLengthTakesNoMemory() throws {
        try self.killed([2])
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: self.folder.file("pets.bodies/open-2.json")))
        try file.truncate(atOffset: 1 << 40)
        try file.close()
        #expect(try self.recover().notices.contains { $0.contains("open-2.json") })
    }

    @Test func linksFoldersAndPipesAreNotRead() throws {
        try self.killed([2])
        let secret = try self.folder.write(Array("{ \"at\": 1 }\n".utf8), to: "secret.jsonl")
        for name in ["open-3.json", "open-4.jsonl"] {
            try FileManager.default.createSymbolicLink(atPath: self.folder.file("pets.bodies/\(name)"), withDestinationPath: secret)
        }
        try FileManager.default.createDirectory(atPath: self.folder.file("pets.bodies/open-5.json"), withIntermediateDirectories: false)
        #expect(mkfifo(self.folder.file("pets.bodies/open-6.json"), 0o600) == 0)
        let store = try BodyStore(cassettePath: self.path)
        _ = try store.makeJournal(7, self.path)
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("pets.bodies/open-7.jsonl"), withDestinationPath: secret)
        let outcome = try self.recover()
        #expect(outcome.added == [2])
        #expect(outcome.notices.count == 6, "\(outcome.notices)")
        #expect(try self.folder.read("secret.jsonl") == Array("{ \"at\": 1 }\n".utf8))
        #expect(!(try self.folder.read("pets.json")).withUnsafeBytes { ByteSearch.contains("\"at\": 1 }\n{", in: $0) })
    }

    @Test func theFolderOfBodiesIsNotALink() throws {
        try self.killed([2])
        try FileManager.default.moveItem(atPath: self.folder.file("pets.bodies"), toPath: self.folder.file("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: self.folder.file("pets.bodies"), withDestinationPath: self.folder.file("elsewhere"))
        let cassette = try RecordedCassette(path: self.path)
        #expect(cassette.count == 1 && cassette.notices.count == 1)
    }

    // MARK: Kills

    /// The folders of a recorder that was killed at each step, with the number of acknowledged messages at that time.
    private func statesOfARecording(inlineLimit: Int, _ body: (_ state: String, _ acknowledged: Int) throws -> Void) throws {
        let states = Guarded<[(String, Int)]>([])
        let acknowledged = Guarded(0)
        let (folder, rest) = (self.folder, try TemporaryFolder())
        let disk = StepDisk {
            let state = rest.file("\(states.withLock { $0.count })")
            try? folder.copy(to: state)
            states.withLock { $0.append((state, acknowledged.withLock { $0 })) }
        }
        let appender = try CassetteAppender.create(self.path, recorder: "test", disk: disk.calls)
        try appender.append([ConversationFixtures.text(.care(1))])
        let store = try BodyStore(cassettePath: self.path, disk: disk.calls)
        let journal = try store.makeJournal(2, self.path)
        for range in [0..<3, 3..<4, 4..<20] {
            try journal.append(ConversationFixtures.lines(range), count: range.count)
            acknowledged.withLock { $0 = range.upperBound }
        }
        var interaction = ConversationFixtures.head(2)
        interaction.webSocket = try journal.finish(inlineLimit: inlineLimit).webSocket()
        try appender.append([ConversationFixtures.text(interaction)])
        try store.syncAll()
        try appender.sync()
        try journal.remove()
        try store.syncAll()
        let end = rest.file("end")
        try self.folder.copy(to: end)
        for (state, count) in states.withLock({ $0 }) + [(end, 20)] where FileManager.default.fileExists(atPath: state + "/pets.json") {
            try body(state, count)
        }
        withExtendedLifetime(appender) {}
    }

    /// Expects the exchange once, with every acknowledged message, in order.
    private func check(_ exchanges: [Interaction], _ path: String, atLeast acknowledged: Int) throws {
        let twos = exchanges.filter { $0.started == ConversationFixtures.head(2).started }
        guard acknowledged > 0 || !twos.isEmpty else { return }
        #expect(twos.count == 1)
        guard let two = twos.first else { return }
        let messages = try ConversationFixtures.messages(two, beside: path) ?? []
        #expect(messages == Array(0..<max(acknowledged, messages.count)))
    }

    @Test(arguments: [0, 1 << 20])
    func aKillAtAnyMomentLosesAndRepeatsNothing(inlineLimit: Int) throws {
        var count = 0
        try self.statesOfARecording(inlineLimit: inlineLimit) { state, acknowledged in
            count += 1
            let path = "\(state)/pets.json"
            guard !CassettePlace.isEmptyFile(path) else { return }
            let cassette = try RecordedCassette(path: path)
            try self.check((0..<cassette.count).map { try cassette.interaction(at: $0) }, path, atLeast: acknowledged)
            // The next recorder is killed at each step too.
            let (again, step) = (state + ".again", Guarded(0))
            let disk = StepDisk {
                let next = step.withLock { step -> Int in
                    step += 1
                    return step
                }
                try? FileManager.default.copyItem(atPath: state, toPath: "\(again)\(next)")
            }
            _ = try self.recover(path, disk: disk.calls)
            try self.check(RecordedExchanges.read(path), path, atLeast: acknowledged)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(state)/pets.bodies")) ?? []
            #expect(!names.contains { $0.hasPrefix("open-") })
            for number in 1...max(1, step.withLock { $0 }) where FileManager.default.fileExists(atPath: "\(again)\(number)") {
                let path = "\(again)\(number)/pets.json"
                _ = try self.recover(path)
                try self.check(RecordedExchanges.read(path), path, atLeast: acknowledged)
                #expect(try self.findings(path).allSatisfy { $0 == .unusedFile })
            }
        }
        #expect(count > 15)
    }

    /// Synced data survives a power failure, whatever happens to the rest.
    @Test func aJournalIsRemovedWhenItsExchangeIsSynced() throws {
        try self.killed([2])
        let disk = FaultyDisk()
        disk.with { $0.syncError = EIO }
        let appender = try CassetteAppender.open(self.path, recorder: "test", disk: disk.calls)
        #expect(
            cassetteError { try JournalRecovery.run(appender, BodyStore(cassettePath: self.path, disk: disk.calls), disk: disk.calls) }
                != nil)
        #expect(try self.folder.names(in: "pets.bodies") == ["open-2.json", "open-2.jsonl"])
        disk.with { $0.syncError = 0 }
        let outcome = try JournalRecovery.run(appender, BodyStore(cassettePath: self.path, disk: disk.calls), disk: disk.calls)
        #expect(outcome.added.isEmpty && outcome.leftovers == 1)
        #expect(try RecordedExchanges.read(self.path).map(\.id) == [1, 2])
        #expect(try self.folder.names(in: "pets.bodies").isEmpty)
    }
}
