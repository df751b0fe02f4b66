import TapeBytes
import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeExchange
import TapeRecorder
import TapeTestSupport
import Testing

/// Recording as another target of the package does it: with the visible API, and without an event loop.
@Suite struct TapedRecordingTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("tape.json")
    }

    private func open(_ mode: RecordMode = .all) throws -> Recorder {
        let plan = try RecordingPlan(path: self.path, mode: mode, exists: CassettePlace.exists(self.path))
        return try #require(try Recorder(plan, version: "1"))
    }

    /// Tapes an exchange whose answer arrives in pieces.
    private func record(_ pieces: [[UInt8]], token: String = "s3cr3t-t0ken", with recorder: Recorder) {
        let id = recorder.nextID()
        let request = RecordedRequest(
            method: "GET", url: "http://h.test/\(id)", headers: HeaderFields(["Host: h.test", "Authorization: Bearer \(token)"]))
        var tap = Tap(id: id, started: Timestamp(microseconds: 1_700_000_000_000_000 + Int64(id)), request: request, framing: .none)
        tap.requestEnded(at: 1, sendStarted: 0)
        let size = pieces.reduce(0) { $0 + $1.count }
        tap.responseBegan(RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: image/png"])), framing: .length(size), at: 2)
        for piece in pieces {
            guard let block = piece.withUnsafeBytes({ tap.data(.response, $0, at: 3) }) else { continue }
            _ = recorder.put(.block(exchange: id, side: .response, bytes: block))
        }
        tap.responseEnded()
        _ = recorder.put(.exchange(tap.ended(.complete, at: 4), stored: nil))
    }

    @Test func exchangesOfManyTasksAreRecordedWithoutTheirSecrets() async throws {
        let recorder = try self.open()
        let pieces = (0..<5).map { [UInt8](repeating: $0, count: 30_000) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { self.record(pieces, with: recorder) } }
        }
        #expect(try recorder.close(keepsOld: false) == self.path)
        #expect(recorder.currentStatus.recorded == 20)
        #expect(recorder.currentStatus.leaks.isEmpty)
        let recorded = try RecordedExchanges.read(self.path)
        #expect(recorded.map(\.request.url) == (1...20).map { "http://h.test/\($0)" })
        for interaction in recorded {
            guard case .file(let sidecar)? = interaction.response?.body?.content else { throw TestProblem("no sidecar") }
            #expect(try self.folder.read(sidecar.path) == pieces.flatMap { $0 })
        }
        #expect(!String(decoding: try self.folder.read("tape.json"), as: UTF8.self).contains("s3cr3t-t0ken"))
    }

    private func mode(_ name: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int)
    }

    @Test func bodiesAreAsPrivateAsTheirCassette() throws {
        let body = [[UInt8](repeating: 1, count: 30_000)]
        for (redaction, modes) in [(nil, (0o600, 0o700)), (RedactionRules.standard, (0o640, 0o750))] as [(RedactionRules?, (Int, Int))] {
            try? FileManager.default.removeItem(atPath: self.folder.file("tape.bodies"))
            if redaction != nil {
                let first = try self.open()
                self.record(body, with: first)
                _ = try first.close(keepsOld: false)
                chmod(self.path, 0o640)
                try FileManager.default.removeItem(atPath: self.folder.file("tape.bodies"))
            }
            let plan = try RecordingPlan(path: self.path, mode: .all, exists: redaction != nil)
            let recorder = try #require(try Recorder(plan, version: "1", redaction: redaction))
            self.record(body, with: recorder)
            #expect(try recorder.close(keepsOld: false) == self.path)
            #expect(try self.mode("tape.json") == modes.0 && self.mode("tape.bodies") == modes.1)
            let name = try #require(try self.folder.names(in: "tape.bodies").first)
            #expect(try self.mode("tape.bodies/\(name)") == modes.0)
        }
    }

    @Test(arguments: [
        "a\\b.json", "a\nb.json", String(repeating: "n", count: 242) + ".json", String(repeating: "가", count: 81) + ".json",
    ])
    func aNameThatLeavesNoRoomIsRefusedBeforeAnythingIsWritten(name: String) throws {
        let plan = try RecordingPlan(path: self.folder.file(name), mode: .all, exists: false)
        let error = #expect(throws: CassetteError.self) { try Recorder(plan, version: "1") }
        #expect(error?.message.contains("cannot name a cassette") == true)
        #expect(try self.folder.names(in: ".").isEmpty)
    }

    @Test func aRecordingInAMissingFolderIsNotReportedAsRecorded() throws {
        let recorder = try self.open()
        self.record([[UInt8](repeating: 1, count: 30_000)], with: recorder)
        while recorder.currentStatus.recorded == 0 { sched_yield() }
        try FileManager.default.moveItem(atPath: self.folder.path, toPath: self.folder.path + "-moved")
        defer { try? FileManager.default.removeItem(atPath: self.folder.path + "-moved") }
        #expect(throws: CassetteError.self) { try recorder.close(keepsOld: false) }
    }

    @Test func aStagedRecordingHasItsNameWhenItIsClosed() throws {
        var plan = try RecordingPlan(path: self.path, mode: .once, exists: false)
        plan.target = .stage
        let recorder = try #require(try Recorder(plan, version: "1"))
        self.record([[UInt8](repeating: 1, count: 30_000)], with: recorder)
        #expect(!CassettePlace.exists(self.path))
        #expect(try recorder.close(keepsOld: false) == self.path)
        #expect(try RecordedExchanges.read(self.path).count == 1)
        #expect(try self.folder.names(in: ".").sorted() == ["tape.bodies", "tape.json"])
    }

    @Test func aNewRecordingTakesTheOldOnesPlaceOnlyWhereItMay() throws {
        func record(_ word: String, keepsOld: Bool) throws -> String {
            let recorder = try self.open()
            self.record([Array(word.utf8)], with: recorder)
            return try recorder.close(keepsOld: keepsOld)
        }
        func words(_ path: String) throws -> [Int?] { try RecordedExchanges.read(path).map { $0.response?.body?.size } }
        #expect(try record("a", keepsOld: false) == self.path)
        let beside = try record("bb", keepsOld: true)
        #expect(beside != self.path)
        #expect(try words(self.path) == [1])
        #expect(try words(beside) == [2])
        #expect(try record("ccc", keepsOld: false) == self.path)
        #expect(try words(self.path) == [3])
    }

    @Test func aRecordingThatIsAbandonedLeavesNothing() throws {
        try self.open().abandon()
        #expect(try self.folder.names().isEmpty)
    }

    @Test func aFullQueueSaysSoAndCallsWhenThereIsRoom() throws {
        let recorder = try self.open()
        let room = Gate("there is room")
        recorder.onDrain { room.open() }
        let block = [UInt8](repeating: 1, count: 1 << 20)
        var blocks = 0
        while !recorder.put(.block(exchange: 1, side: .request, bytes: block)) {
            blocks += 1
            try #require(blocks < 10_000, "the queue is never full")
        }
        try room.wait()
        try recorder.abandon()
    }
}
