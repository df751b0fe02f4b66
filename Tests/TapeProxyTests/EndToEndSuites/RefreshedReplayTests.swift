import CassetteModel
import CassettePlayback
import TapeBytes
import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Dates of a recorded answer, moved to the day of its replay.
@Suite struct RefreshedReplayTests {
    private func recorded(_ answer: String) throws -> (folder: TemporaryFolder, origin: RawOrigin) {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send(answer)
        }
        let live = try RunningProxy()
        let client = try live.connect()
        try client.send(origin.request())
        _ = try self.answer(client)
        origin.finish()
        try live.stop()
        return (live.folder, origin)
    }

    private func replayed(_ folder: TemporaryFolder, _ origin: RawOrigin, _ rules: RefreshRules?) throws -> String {
        let recorded = try #require(try RecordedExchanges.read(folder.file("tape.json")).first?.started)
        let now = Timestamp(microseconds: Int64(time(nil)) * 1_000_000)
        let replay = try RunningProxy(.none, in: folder) {
            $0.refresh = rules.map { DateRefresh($0, shift: DateShift(from: recorded, to: now)) }
        }
        let client = try replay.connect()
        try client.send(origin.request())
        return try self.answer(client)
    }

    private func answer(_ client: RawConnection) throws -> String {
        let message = String(decoding: try client.readMessage(), as: UTF8.self)
        guard message.contains("Transfer-Encoding: chunked") else { return message }
        return message + String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self)
    }

    /// Changes the cassette as if it had been recorded on 1 January 2020.
    private func backdate(_ folder: TemporaryFolder) throws {
        let text = String(decoding: try folder.read("tape.json"), as: UTF8.self)
        let started = try #require(try RecordedExchanges.read(folder.file("tape.json")).first?.started.formatted)
        let old = text.replacing(started, with: "2020-01-01T00:00:00.000000Z")
        #expect(old != text)
        try folder.write(Array(old.utf8), to: "tape.json")
    }

    private static func md5(_ text: some StringProtocol) -> String {
        Data(BodyChecksum.md5.value(of: Array(text.utf8))).base64EncodedString()
    }

    @Test func checksumsInTheTrailerFitTheNewBody() throws {
        let body = "{\"at\":\"2020-01-01T00:00:00+00:00\"}"
        let (folder, origin) = try self.recorded(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: Content-MD5\r\n\r\n"
                + "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\nContent-MD5: \(Self.md5(body))\r\n\r\n")
        try self.backdate(folder)
        let fresh = try self.replayed(folder, origin, try RefreshRules(["json:/at"]))
        let lines = fresh.components(separatedBy: "\r\n")
        let new = try #require(lines.first { $0.hasPrefix("{") }, "\(fresh)")
        #expect(new != body && lines.contains("Content-MD5: \(Self.md5(new))"), "\(fresh)")
    }

    @Test func anOldAnswerIsNoOlderThanItWas() throws {
        let body = "{\"at\":\"2020-01-01T00:00:00+00:00\",\"exp\":1577840400,\"born\":\"2000-01-01T00:00:00Z\"}"
        let answer =
            "HTTP/1.1 200 OK\r\nDate: Wed, 01 Jan 2020 00:00:00 GMT\r\nExpires: Wed, 01 Jan 2020 01:00:00 GMT\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let (folder, origin) = try self.recorded(answer)
        try self.backdate(folder)
        #expect(try self.replayed(folder, origin, nil) == answer, "left alone without the option")
        let fresh = try self.replayed(folder, origin, try RefreshRules(["json:/at", "json:/exp"]))
        #expect(fresh.hasSuffix("\"born\":\"2000-01-01T00:00:00Z\"}"))
        #expect(!fresh.contains("2020"))
        let plain = try self.replayed(folder, origin, .standard)
        #expect(!plain.contains("Jan 2020"))
        #expect(plain.hasSuffix(body))
    }
}
