import CassetteModel
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct DownloadTicketsTests {
    private let order = DownloadTickets.Order(format: .har, view: 3)

    @Test func aTicketIsGoodOnce() {
        let tickets = DownloadTickets()
        let name = tickets.issue(self.order)
        #expect(tickets.take(name) == self.order)
        #expect(tickets.take(name) == nil)
        #expect(tickets.take("") == nil && tickets.take("x") == nil)
    }

    @Test func aTicketIsGoodForHalfAMinute() {
        let tickets = DownloadTickets()
        let now = ContinuousClock.now
        let (first, second) = (tickets.issue(self.order, now: now), tickets.issue(self.order, now: now))
        #expect(first != second && first.count == 64)
        #expect(tickets.take(first, now: now + .seconds(29)) == self.order)
        #expect(tickets.take(second, now: now + .seconds(31)) == nil)
    }

    @Test func aPageThatAsksWithoutEndTakesNoMemory() {
        let tickets = DownloadTickets()
        let now = ContinuousClock.now
        let names = (0..<200).map { _ in tickets.issue(self.order, now: now) }
        #expect(names.filter { tickets.take($0, now: now) != nil }.count == 100)
    }
}

@Suite struct ZipWriterTests {
    @Test func anArchiveHasItsFilesAndAList() throws {
        var zip = ZipWriter()
        let bytes = try zip.add("1-request.txt", Array("hello".utf8)) + zip.add("보리", []) + zip.end()
        // The end: the signature, the number of files, and the position of their list.
        let end = Array(bytes.suffix(22))
        #expect(end.prefix(4) == [0x50, 0x4B, 5, 6] && end[8] == 2 && end[10] == 2)
        let list = Int(end[16]) | Int(end[17]) << 8
        #expect(Array(bytes[list..<list + 4]) == [0x50, 0x4B, 1, 2])
        // CRC-32 of "hello".
        #expect(Array(bytes[14..<18]) == [0x86, 0xA6, 0x10, 0x36])
        #expect(Array(bytes[18..<22]) == [5, 0, 0, 0] && Array(bytes[30..<43]) == Array("1-request.txt".utf8))
        #expect(Array(bytes[43..<48]) == Array("hello".utf8))
    }

    @Test func truncatedContentIsRefused() {
        var zip = ZipWriter()
        #expect(throws: CassetteError.self) { try zip.add("a", [], isWhole: false) }
    }
}

@Suite struct ViewExportTests {
    @Test func aViewIsFetchedOnceWithoutTheToken() throws {
        let inspector = try RunningInspector()
        _ = try inspector.state { $0.contains("\"rows\": 2,") }
        let made = try inspector.ask("POST", "/api/tickets", body: #"{"format": "har"}"#)
        let path = try #require(made.body.split(separator: "\"").first { $0.hasPrefix("/d/") }.map(String.init))
        #expect(path.hasSuffix("/pets.har"))
        let file = try inspector.ask("GET", path, token: nil)
        #expect(file.status == 200 && file.head.contains("Content-Disposition: attachment; filename=\"pets.har\""))
        #expect(file.body.contains("\"url\": \"http://a/pets/2\""))
        #expect(try inspector.ask("GET", path, token: nil).status == 404, "a second time")
        #expect(try inspector.ask("GET", "/d/\(RunningInspector.token)/pets.har", token: nil).status == 404)
        #expect(try inspector.ask("POST", "/api/tickets", body: #"{"format": "har"}"#, token: nil).status == 401)
        #expect(try inspector.ask("POST", "/api/tickets", body: #"{"format": "exe"}"#).status == 400)
        #expect(try inspector.ask("GET", path, fields: ["Sec-Fetch-Site: cross-site"], token: nil).status == 403)
    }

    @Test func aViewIsExportedAsCommands() throws {
        let inspector = try RunningInspector()
        _ = try inspector.state { $0.contains("\"rows\": 2,") }
        _ = try inspector.ask("POST", "/api/views", body: #"{"filter": "~m POST"}"#)
        let made = try inspector.ask("POST", "/api/tickets", body: #"{"format": "curl", "view": 1}"#)
        let path = try #require(made.body.split(separator: "\"").first { $0.hasPrefix("/d/") }.map(String.init))
        let file = try inspector.ask("GET", path, token: nil)
        #expect(file.body.contains("# exchange 2\n") && file.body.contains("http://a/pets/2") && !file.body.contains("# exchange 1\n"))
    }
}
