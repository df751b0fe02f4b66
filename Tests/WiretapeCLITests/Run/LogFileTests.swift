import CassetteModel
import Dispatch
import Foundation
import Logging
import TapeBytes
import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct LogFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private var path: String { self.folder.file("run.log") }

    private func lines() throws -> [Substring] { String(decoding: try self.folder.read("run.log"), as: UTF8.self).split(separator: "\n") }

    @Test func anEventIsALineWithItsTimeAndItsMetadataInOrder() {
        let line = LogFileHandler.line(
            .debug, "replay", ["method": "GET", "connection": "7", "none": ""], at: Timestamp(microseconds: 1_795_234_768_123_456))
        #expect(String(decoding: line, as: UTF8.self) == "2026-11-21T04:19:28.123456Z debug replay connection=7 method=GET none=\"\"\n")
    }

    @Test(arguments: [
        ("a b", "\"a b\""), ("a=b", "\"a=b\""), ("\"", "\"\\\"\""), ("\\", "\"\\\\\""), ("\n", "\"\\\\n\""),
        ("\u{1B}[2J", "\"\\\\u{1b}[2J\""), ("h.test:443", "h.test:443"),
        (String(repeating: "x", count: 5000), String(repeating: "x", count: 1000) + "…"),
    ])
    func anyValueIsOneWordOnOneLine(_ value: String, _ shown: String) {
        let line = String(decoding: LogFileHandler.line(.info, "m", ["k": "\(value)"]), as: UTF8.self)
        #expect(line.hasSuffix(" info m k=\(shown)\n"), "\(line)")
        #expect(line.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A } && line.utf8.count { $0 == 0x0A } == 1)
    }

    @Test func linesAreAddedToTheEndInTheirOrderUpToTheLevel() throws {
        try self.folder.write("earlier\n".utf8, to: "run.log")
        let log = try LogFile(path: self.path, level: .info)
        for number in 0..<100 {
            log.logger.info("n", metadata: ["number": "\(number)"])
            log.logger.debug("nobody wants this")
        }
        log.flush()
        let lines = try self.lines()
        #expect(lines.first == "earlier")
        #expect(lines.dropFirst().map { $0.split(separator: "=").last } == (0..<100).map { "\($0)" })
    }

    @Test func linesOfManyThreadsAreNotMixed() throws {
        let log = try LogFile(path: self.path, level: .trace)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<200 { log.logger.trace("t", metadata: ["thread": "\(thread)", "text": "\(String(repeating: "x", count: 500))"]) }
        }
        log.flush()
        let lines = try self.lines()
        #expect(lines.count == 1600)
        #expect(lines.allSatisfy { $0.contains(" trace t text=xxx") && $0.contains(" thread=") })
    }

    @Test func onlyItsOwnerReadsANewLog() throws {
        _ = try LogFile(path: self.path, level: .info)
        let mode = try FileManager.default.attributesOfItem(atPath: self.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func aLogThatCannotBeOpenedIsReportedWithItsName() throws {
        let path = self.folder.file("none/run.log")
        let error = #expect(throws: SettingError.self) { _ = try LogFile(path: path, level: .info) }
        #expect(error?.message.contains("\"\(path)\" cannot be written (No such file or directory)") == true)
    }

    /// A disk that is full for a while, and accepts one line and a half before it is full again.
    @Test func linesThatTheDiskRefusesAreCounted() throws {
        let disk = Guarded((room: 0, text: [UInt8]()))
        let log = LogFile(level: .info) { bytes in
            disk.withLock { disk in
                let taken = min(disk.room, bytes.count)
                disk.text += bytes.prefix(taken)
                disk.room -= taken
                return taken == 0 ? -1 : taken
            }
        }
        for round in 0..<3 {
            for _ in 0..<(round == 0 ? 1000 : 1) { log.logger.info("lost") }
            log.flush()
        }
        let size = LogFileHandler.line(.info, "kept", [:], at: Timestamp(microseconds: 1_795_234_768_123_456)).count
        let note = LogFileHandler.line(.warning, "log lines dropped", ["count": "1002"], at: Timestamp(microseconds: 1_795_234_768_123_456))
            .count
        disk.withLock { $0.room = note + size + size / 2 }
        for _ in 0..<3 { log.logger.info("kept") }
        log.flush()
        disk.withLock { $0.room = 1 << 20 }
        log.logger.info("kept")
        log.flush()
        let lines = String(decoding: disk.withLock { $0.text }, as: UTF8.self).split(separator: "\n").map { $0.dropFirst(28) }
        #expect(lines.count == 5 && lines[0] == "warning log lines dropped count=1002" && lines[1] == "info kept")
        #expect(lines[3] == "warning log lines dropped count=2" && lines[4] == "info kept")
    }

    #if os(Linux)
    @Test func aFullDiskDoesNotBlockLogging() throws {
        let log = try LogFile(path: "/dev/full", level: .info)
        for _ in 0..<1000 { log.logger.info("lost") }
        log.flush()
        log.flush()
    }
    #endif
}
