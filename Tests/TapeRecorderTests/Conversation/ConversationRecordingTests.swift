import CassetteModel
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

/// The recording of conversations, turn by turn, with a manual clock.
@Suite struct ConversationRecordingTests {
    private func words(_ numbers: Range<Int>) -> [String] { numbers.map { "\($0)" } }

    // MARK: While it runs

    @Test func aShortConversationCostsNoFiles() throws {
        let bench = try RecorderBench()
        bench.open(1)
        bench.say(0..<3, in: 1)
        for _ in 0..<39 { bench.turn(after: 10) }
        bench.close(1)
        bench.turn()
        #expect(try bench.said(in: 1) == self.words(0..<3))
        #expect(try bench.bodies.isEmpty)
    }

    @Test func everyMessageIsInAFileASecondAfterItCame() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20 {
            let bench = try RecorderBench()
            var said: [(at: UInt64, text: String)] = []
            var checked = 0
            bench.open(1)
            var now: UInt64 = 0
            while now < 4000 {
                let speaks = Int.random(in: 0..<20, using: &generator) == 0
                if speaks {
                    said.append((now, "\(said.count)" + String(repeating: "x", count: Int.random(in: 0..<3000, using: &generator))))
                    bench.say(said[said.count - 1].text, in: 1)
                }
                // A new item wakes a sleeping recorder, but not a napping one.
                let rest = bench.worker.restTime.map { UInt64.random(in: 0...UInt64($0), using: &generator) } ?? (speaks ? 0 : 500)
                bench.turn(after: rest)
                now += rest
                let due = said.filter { $0.at + 1000 <= now }.map(\.text)
                guard due.count > checked else { continue }
                checked = due.count
                let written = try SampleConversation.lines(bench.folder.read("tape.bodies/open-1.jsonl"))
                #expect(Array(written.prefix(due.count)) == due)
            }
        }
    }

    @Test func aConversationWithoutMessagesIsKnownToReadersToo() throws {
        let bench = try RecorderBench()
        bench.open(1)
        bench.turnUntilJournaled()
        #expect(try bench.bodies == ["open-1.json"])
        #expect(OpenConversations(of: bench.folder.file("tape.json")).conversations.map(\.count) == [0])
    }

    @Test func aFastOneFillsFilesAndNotMemory() throws {
        let bench = try RecorderBench()
        var running = RunningConversations(file: bench.file, heldLimit: 1 << 20)
        let head = Array("{}".utf8)
        running.begin(1, RunningConversations.Conversation(form: .webSocket, head: head, opened: 0, generation: 0))
        let line = Array("{ \"text\": \"\(String(repeating: "x", count: 100))\" }\n".utf8)
        var most = 0
        for _ in 0..<20_000 {
            try #require(line.withUnsafeBytes { running.add($0, to: 1, now: 0) } == .kept)
            if running.heldSize >= RunningConversations.writeSize { _ = try running.write(now: 0) }
            most = max(most, running.heldSize)
        }
        #expect(most < RunningConversations.writeSize + line.count)
        let ended = try #require(try running.end(1))
        guard case .file(let sidecar, count: 20_000) = ended.messages else { return #expect(Bool(false), "\(ended.messages)") }
        #expect(sidecar.size == 20_000 * line.count)
        #expect(running.heldSize == 0 && !running.hasPending)
    }

    @Test func manyAreWrittenTogetherBeforeTheyFillMemory() throws {
        let bench = try RecorderBench()
        for id in 1...200 { bench.open(id) }
        for id in 1...200 { bench.say(String(repeating: "x", count: 30_000), in: id) }
        bench.turn()
        #expect(try bench.bodies.count == 400)
        for id in 1...200 { bench.close(id) }
        bench.turn()
        #expect(try bench.inFile.count == 200)
    }

    // MARK: The end

    @Test func aJournalIsRemovedWhenItsExchangeIsOnTheDisk() throws {
        let bench = try RecorderBench()
        bench.disk.with { $0.syncError = EIO }
        bench.open(1)
        bench.say(0..<3, in: 1)
        bench.turnUntilJournaled()
        bench.close(1)
        bench.turn()
        #expect(try bench.said(in: 1) == self.words(0..<3))
        for _ in 0..<3 { bench.turnUntilSynced() }
        #expect(bench.disk.with { $0.syncs } > 2)
        #expect(try bench.bodies == ["open-1.json", "open-1.jsonl"], "a power failure now could take both")
        bench.disk.with { $0.syncError = 0 }
        bench.turnUntilSynced()
        #expect(try bench.bodies.isEmpty)
    }

    @Test func waiterIsCalledOnceTheConversationIsOnTheDisk() throws {
        let bench = try RecorderBench()
        bench.open(1)
        bench.say(0..<3, in: 1)
        bench.turnUntilJournaled()
        bench.close(1, waits: true)
        bench.turn()
        #expect(try bench.problem(1) == nil)
        bench.turn(after: 10)
        #expect(try bench.bodies.isEmpty)
    }

    @Test func aLongOneIsASidecar() throws {
        let bench = try RecorderBench()
        bench.open(1)
        let long = String(repeating: "y", count: 10_000)
        for number in 0..<150 {
            bench.say("\(number)\(long)", in: 1)
            bench.turn(after: 10)
        }
        bench.close(1)
        bench.turnUntilSynced()
        #expect(try bench.bodies.count == 1)
        #expect(try bench.said(in: 1) == (0..<150).map { "\($0)\(long)" })
        #expect(try bench.folder.read("tape.json").count < 5000)
    }

    @Test func conversationStillOpenAtTheEndIsCutByTheRecorder() throws {
        let bench = try RecorderBench()
        bench.open(1)
        bench.open(2)
        bench.say(0..<2, in: 1)
        bench.turnUntilJournaled()
        bench.say(2..<3, in: 1)
        bench.turn()
        bench.worker.end()
        #expect(try bench.said(in: 1) == self.words(0..<3) && bench.said(in: 2) == [])
        for exchange in try RecordedExchanges.read(bench.folder.file("tape.json")) {
            guard case .cut(let cut) = exchange.outcome else { return #expect(Bool(false)) }
            #expect(cut.by == .recorder)
        }
        #expect(try bench.bodies.isEmpty)
        #expect(bench.now.lost == 0)
    }

    @Test func theEndOfOneThatNeverBeganIsLost() throws {
        let bench = try RecorderBench()
        bench.say(0..<1, in: 1)
        bench.close(1, waits: true)
        bench.turn()
        #expect(try bench.problem(1)?.code == .exchange)
        #expect(bench.now.lost == 1)
    }

    // MARK: Bodies in pieces

    @Test func anExchangeThatEndsNeedsItsPiecesNoMore() throws {
        let bench = try RecorderBench()
        bench.open(1, as: .body)
        bench.piece("data: a\n\n", in: 1)
        bench.turnUntilJournaled()
        #expect(try bench.bodies.count == 2)
        bench.put(TapedExchanges.simple(1, body: "data: a\n\ndata: b\n\n"))
        bench.turn()
        #expect(try bench.bodies.count == 2, "a power failure now could take both")
        bench.turnUntilSynced()
        #expect(try bench.bodies.isEmpty && bench.inFile == [1])
    }

    @Test func oneThatDoesNotEndIsCutByTheRecorder() throws {
        let bench = try RecorderBench()
        for id in 1...2 {
            bench.open(id, as: .body)
            bench.piece("data: a\n\n", in: id)
        }
        bench.turn()
        bench.worker.end()
        let path = try bench.file.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        let exchanges = try RecordedExchanges.read(path)
        #expect(exchanges.map(\.id) == [1, 2] && exchanges.allSatisfy { $0.response?.body?.size == 9 })
        #expect(exchanges.allSatisfy { if case .cut(let cut) = $0.outcome { cut.by == .recorder } else { false } })
        #expect(try bench.bodies.isEmpty)
    }

    /// Its secret is removed in memory, and in pieces of a file.
    @Test(arguments: [100_000, 3 << 20, 5 << 20]) func aRequestOfAnySizeIsInTheJournal(size: Int) throws {
        let threads = Guarded<[@Sendable () -> Void]>([])
        let bench = try RecorderBench { run in
            threads.withLock { $0.append(run) }
            return true
        }
        bench.open(1, as: .body)
        // Two bytes of a character may be in two lines.
        let text = String(repeating: "xé", count: size / 3)
        bench.large(Array("{\"password\":\"hunter2-of-the-test\",\"rest\":\"\(text)\"}".utf8), in: 1)
        bench.piece("data: a\n\n", in: 1)
        bench.turn()
        for run in threads.withLock({ $0 }) { run() }
        bench.turnUntilJournaled()
        let open = try #require(OpenConversations(of: bench.folder.file("tape.json")).conversations.first)
        #expect(open.droppedBytes == 0 && open.count >= size >> 17)
        #expect(try !bench.folder.read("tape.bodies/open-1.jsonl").withUnsafeBytes { ByteSearch.contains("hunter2", in: $0) })
        bench.worker.end()
        let path = try bench.file.close(keepsOld: false, hasUndecoded: false) { _, _ in }
        let exchange = try #require(try RecordedExchanges.read(path).first)
        let request = try #require(exchange.request.body)
        let recorded = try BodyReader(cassettePath: path).wireBytes(of: request, digest: { PortableSHA256() }).bytes
        #expect(request.isComplete && recorded.suffix(text.utf8.count + 2).elementsEqual(Array("\(text)\"}".utf8)))
        #expect(String(decoding: recorded.prefix(40), as: UTF8.self).hasPrefix("{\"password\":\"{{"))
        #expect(exchange.response?.body?.size == 9)
    }

    // MARK: Disks

    @Test func messagesWithoutRoomAreReportedOnceAndWrittenLater() throws {
        let bench = try RecorderBench()
        bench.open(1)
        bench.open(2)
        bench.say(0..<5, in: 1)
        bench.turnUntilJournaled()
        bench.disk.with { $0.writeError = ENOSPC }
        for number in 5..<50 {
            bench.say("\(number)", in: 1)
            bench.say("\(number)", in: 2)
            bench.turn(after: 50)
        }
        bench.close(1)
        bench.turn(after: 50)
        #expect(bench.now.isDiskFull && bench.now.lost == 0)
        #expect(bench.notices.withLock { $0 }.count == 1)
        bench.disk.with { $0.writeError = 0 }
        for _ in 0..<100 { bench.turn(after: 50) }
        #expect(try bench.said(in: 1) == self.words(0..<50))
        bench.close(2)
        bench.turn()
        #expect(try bench.said(in: 2) == self.words(5..<50))
        #expect(bench.now.obstacle == nil && bench.now.lost == 0)
        #expect(bench.notices.withLock { $0 }.last == "recording again.")
    }

    @Test func aGapEndsTheRecordingOfItsConversation() throws {
        let bench = try RecorderBench(heldLimit: 2000)
        bench.open(1)
        bench.turnUntilJournaled()
        bench.disk.with { $0.writeError = ENOSPC }
        for number in 0..<200 { bench.say("\(number)", in: 1) }
        bench.turn()
        #expect(bench.now.lost == 1)
        bench.disk.with { $0.writeError = 0 }
        for _ in 0..<100 { bench.turn(after: 50) }
        bench.say("after the gap", in: 1)
        bench.open(2)
        bench.say(0..<2, in: 2)
        bench.turn()
        bench.close(1)
        bench.close(2)
        bench.turn()
        let said = try #require(try bench.said(in: 1))
        #expect(said == self.words(0..<said.count) && said.count > 20 && said.count < 200)
        guard case .cut(let cut)? = try RecordedExchanges.read(bench.folder.file("tape.json")).first?.outcome else {
            return #expect(Bool(false))
        }
        #expect(cut.by == .recorder && cut.reason.hasPrefix("\(201 - said.count) messages"))
        #expect(try bench.said(in: 2) == self.words(0..<2))
        #expect(bench.now.lost == 1)
    }

    @Test func aRefusedExchangeLeavesNothing() throws {
        let bench = try RecorderBench(refuses: true)
        bench.open(1)
        bench.say(0..<3, in: 1)
        bench.turnUntilJournaled()
        bench.disk.with { $0.writeError = ENOSPC }
        bench.close(1, waits: true)
        bench.turn()
        #expect(try bench.problem(1)?.code == .diskFull)
        bench.disk.with { $0.writeError = 0 }
        for _ in 0..<100 { bench.turn(after: 50) }
        bench.worker.end()
        #expect(try bench.inFile.isEmpty && bench.bodies.isEmpty)
    }

    @Test func aRemovedJournalAffectsNoOtherConversation() throws {
        let bench = try RecorderBench()
        for id in 1...2 {
            bench.open(id)
            bench.say(0..<3, in: id)
        }
        bench.turnUntilJournaled()
        try FileManager.default.removeItem(atPath: bench.folder.file("tape.bodies/open-1.jsonl"))
        for number in 3..<20 {
            for id in 1...2 { bench.say("\(number)", in: id) }
            bench.turn(after: 300)
        }
        for _ in 0..<100 { bench.turn(after: 50) }
        for id in 1...2 { bench.close(id) }
        for _ in 0..<100 { bench.turn(after: 50) }
        #expect(try bench.said(in: 1) == nil && bench.said(in: 2) == self.words(0..<20))
        #expect(bench.now.lost == 1 && bench.now.obstacle == nil)
    }

    // MARK: Secrets

    @Test func noSecretReachesTheDisk() throws {
        let bench = try RecorderBench()
        bench.open(1, url: "http://h/talk?access_token=hunter2secret0123456789")
        bench.say("the password is hunter2", in: 1)
        bench.turnUntilJournaled()
        for name in try bench.bodies {
            let text = String(decoding: try bench.folder.read("tape.bodies/\(name)"), as: UTF8.self)
            #expect(!text.contains("hunter2"), "\(name)")
        }
        #expect(try bench.bodies.count == 2)
        bench.close(1)
        bench.turn()
        #expect(try bench.said(in: 1) == ["the password is ***"])
    }

    @Test func messageThatCannotBeSearchedAndLaterOnesAreNotKept() throws {
        let bench = try RecorderBench()
        bench.open(1)
        for text in ["a", "unsearchable", "b"] { bench.say(text, in: 1) }
        bench.turnUntilJournaled()
        bench.close(1)
        bench.turn()
        #expect(try bench.said(in: 1) == ["a"])
        #expect(bench.now.lost == 1 && bench.now.obstacle == nil)
        #expect(bench.notices.withLock { $0 }.count == 1)
    }

    // MARK: Long messages

    private static let long = "{\"password\":\"hunter2-of-the-test\",\"rest\":\"\(String(repeating: "x", count: 6 << 20))\"}"

    @Test func aLongMessageKeepsItsOwnConversationWaitingAndNoOther() throws {
        let threads = Guarded<[@Sendable () -> Void]>([])
        let bench = try RecorderBench { run in
            threads.withLock { $0.append(run) }
            return true
        }
        for id in 1...2 { bench.open(id) }
        bench.say("before", in: 1)
        for text in ["between", "after"] {
            bench.sayLong(Self.long, in: 1)
            bench.say(text, in: 1)
        }
        bench.say("other", in: 2)
        for id in 1...2 { bench.close(id) }
        bench.turn()
        #expect(try bench.said(in: 1) == nil && bench.said(in: 2) == ["other"])
        threads.withLock { $0 }[0]()
        // The thread that has just ended searches the second message, or a new thread does.
        bench.turn()
        if threads.withLock({ $0.count }) > 1 { threads.withLock { $0 }[1]() }
        bench.turn()
        let exchange = try #require(try RecordedExchanges.read(bench.folder.file("tape.json")).first { $0.id == 1 })
        guard case .inline(let messages)? = exchange.webSocket else { return #expect(Bool(false)) }
        let words = messages.map { message in
            if case .file? = message.content.payload {
                "long"
            } else {
                String(decoding: message.content.payload?.inlineBytes ?? [], as: UTF8.self)
            }
        }
        #expect(words == ["before", "long", "between", "long", "after"])
        // Both refer to the same file.
        #expect(try bench.bodies.count == 1)
        for name in try bench.bodies {
            let bytes = try bench.folder.read("tape.bodies/\(name)")
            #expect(bytes.starts(with: Array("{\"password\":\"{{password:1}}\"".utf8)) && bytes.count > 6 << 20)
        }
        #expect(bench.now.lost == 0)
    }

    /// In memory, and full of text that takes long to search.
    @Test(arguments: ["{\"password\":\"hunter2-of-%05d\"}\n", "curl -u joe:hunter2-of-%05d http://h/\n", "password=hunter2-of-%05d&"])
    func aMessageFullOfSecretsKeepsNoOtherConversationWaiting(form: String) throws {
        let threads = Guarded<[@Sendable () -> Void]>([])
        let bench = try RecorderBench { run in
            threads.withLock { $0.append(run) }
            return true
        }
        for id in 1...2 { bench.open(id) }
        bench.sayText((0..<5000).map { form.replacingOccurrences(of: "%05d", with: String(10_000 + $0)) }.joined(), in: 1)
        bench.sayText("after", in: 1)
        bench.sayText(String(repeating: "so it goes, ", count: 10_000), in: 2)
        for id in 1...2 { bench.close(id) }
        bench.turn()
        #expect(try RecordedExchanges.read(bench.folder.file("tape.json")).map(\.id) == [2], "the long one without secrets does not wait")
        for run in threads.withLock({ $0 }) { run() }
        bench.turn()
        let exchange = try #require(try RecordedExchanges.read(bench.folder.file("tape.json")).first { $0.id == 1 })
        guard case .inline(let messages)? = exchange.webSocket else { return #expect(Bool(false)) }
        #expect(messages.count == 2)
        for name in try bench.bodies {
            #expect(try !String(decoding: bench.folder.read("tape.bodies/\(name)"), as: UTF8.self).contains("hunter2"), "\(name)")
        }
    }

    @Test func aLongMessageThatCannotBeSearchedIsLeftOut() throws {
        let bench = try RecorderBench { run in
            run()
            return true
        }
        bench.open(1)
        bench.sayLong(String(Self.long.prefix(200_000)), in: 1, reserved: 4)
        bench.close(1)
        bench.turn()
        bench.turn()
        let exchange = try #require(try RecordedExchanges.read(bench.folder.file("tape.json")).first)
        guard case .inline(let messages)? = exchange.webSocket, let message = messages.first else { return #expect(Bool(false)) }
        #expect(message.content.payload?.size == 0 && message.note == "left out: it cannot be searched for secrets")
        #expect(try bench.bodies.isEmpty)
    }

    @Test func afterAGapNoMessageIsPutInAFile() throws {
        let bench = try RecorderBench()
        bench.open(1)
        bench.say("unsearchable", in: 1)
        bench.sayLong(String(Self.long.prefix(200_000)), in: 1)
        bench.turnUntilJournaled()
        #expect(try bench.bodies == ["open-1.json"])
        bench.close(1)
        bench.turn()
        #expect(try bench.said(in: 1) == [])
        #expect(bench.now.lost == 1)
    }

    // MARK: Runs

    /// A recorder that was killed after 600 ms of conversations 1 and 2, when 2 had ended.
    private func killed(_ folder: TemporaryFolder, _ name: String = "tape.json") throws {
        let bench = try RecorderBench()
        for id in 1...2 {
            bench.open(id)
            bench.say(0..<3, in: id)
        }
        bench.turnUntilJournaled()
        bench.close(2)
        bench.turn()
        for file in ["tape.json"] + (try bench.bodies.map { "tape.bodies/\($0)" }) {
            let bytes = try bench.folder.read(file)
            try folder.write(bytes, to: file == "tape.json" ? name : file)
        }
    }

    private func recorder(_ path: String, _ mode: RecordMode) throws -> Recorder {
        let plan = try RecordingPlan(path: path, mode: mode, exists: CassettePlace.exists(path))
        return try #require(try Recorder(plan, version: "1"))
    }

    @Test func theNextRecorderTakesItInAndGoesOn() throws {
        let folder = try TemporaryFolder()
        try self.killed(folder)
        #expect(try folder.names(in: "tape.bodies").count == 4)
        let path = folder.file("tape.json")
        let recorder = try self.recorder(path, .newEpisodes)
        #expect(recorder.recovered.count == 1 && recorder.nextID() == 3)
        _ = recorder.put(.exchange(TapedExchanges.simple(3), stored: nil))
        _ = try recorder.close(keepsOld: false)
        let exchanges = try RecordedExchanges.read(path)
        #expect(exchanges.map(\.id).sorted() == [1, 2, 3])
        for exchange in exchanges where exchange.id < 3 {
            #expect(try SampleConversation.said(in: exchange, beside: path) == self.words(0..<3))
        }
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }

    @Test func anUndoneRecordingKeepsTheEarlierFiles() throws {
        let folder = try TemporaryFolder()
        try self.killed(folder)
        let path = folder.file("tape.json")
        let recorder = try self.recorder(path, .newEpisodes)
        _ = recorder.put(.opened(SampleConversation.head(3), .webSocket))
        _ = recorder.put(.message(exchange: 3, SampleMessage(text: String(repeating: "x", count: 20_000))))
        try recorder.discard()
        #expect(try RecordedExchanges.read(path).map(\.id).sorted() == [1, 2])
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }

    @Test func anOldCassettesConversationsGoWithIt() throws {
        let folder = try TemporaryFolder()
        try self.killed(folder)
        let path = folder.file("tape.json")
        let recorder = try self.recorder(path, .all)
        #expect(try folder.names(in: "tape.bodies").count == 4, "the old one is still there")
        _ = recorder.put(.exchange(TapedExchanges.simple(1), stored: nil))
        _ = try recorder.close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").isEmpty)
        _ = try self.recorder(path, .newEpisodes).close(keepsOld: false)
        #expect(try RecordedExchanges.read(path).map(\.id) == [1])
    }

    @Test func aNewCassetteHasNoConversationsOfARemovedOne() throws {
        let folder = try TemporaryFolder()
        try self.killed(folder)
        let path = folder.file("tape.json")
        try FileManager.default.removeItem(atPath: path)
        _ = try self.recorder(path, .once).close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").isEmpty)
    }

    @Test func aFullDiskAtTheStartLeavesThemForTheNextTime() throws {
        let folder = try TemporaryFolder()
        try self.killed(folder)
        let disk = FailingDisk()
        disk.with { $0.writeError = ENOSPC }
        let path = folder.file("tape.json")
        let plan = try RecordingPlan(path: path, mode: .newEpisodes, exists: true)
        do {
            let file = try #require(try RecordingFile(plan, version: "1", redaction: nil, digest: { PortableSHA256() }, disk: disk.calls))
            #expect(file.lastID == 2 && file.recovered.count == 1)
            #expect(try folder.names(in: "tape.bodies").count == 4)
        }
        #expect(try self.recorder(path, .newEpisodes).nextID() == 3)
        #expect(try RecordedExchanges.read(path).map(\.id).sorted() == [1, 2])
    }
}
