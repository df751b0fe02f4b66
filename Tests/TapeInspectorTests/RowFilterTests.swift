import CassetteFormat
import CassetteModel
import CassettePlayback
import CassetteStore
import CassetteTools
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct RowFilterTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    /// Exchanges of many kinds, some of which a row cannot decide.
    private var samples: [Interaction] {
        var samples: [Interaction] = [
            .sample(1), .sample(2, at: 1, "POST", "http://a/upload", status: 201, type: "text/html"),
            .sample(3, at: 2, "GET", "https://b.example:8443/x?q=1", status: 404, type: "image/png"),
            .sample(4, at: 3, status: nil, outcome: .failed(Failure(kind: .refused, message: "no"))),
            .sample(5, at: 4, outcome: .cut(Cut(by: .origin, reason: "closed"))), .sample(6, at: 5, status: 204, type: nil),
            .sample(7, at: 6, body: Body(size: 6, content: .text(Array("needle".utf8)))), FormFixtures.upload(FormFixtures.pets),
        ]
        samples[2].request.headers = HeaderFields(["Host: b.example:8443"])
        samples[2].connection = ConnectionInfo(id: 1, remote: "127.0.0.1:8443", isReused: false)
        var host = Interaction.sample(9, at: 9)
        host.request.headers = HeaderFields(["Host: other.example"])
        var twice = Interaction.sample(10, at: 10)
        twice.response?.headers.append(name: "Content-Type", value: "text/css")
        var socket = Interaction.sample(11, at: 11, status: 101, type: nil)
        socket.response?.headers.append(name: "Upgrade", value: "websocket")
        var call = Interaction.sample(12, at: 12, "POST", type: "application/grpc+proto")
        call.request.version = .http2
        call.response?.version = .http2
        call.response?.trailers = HeaderFields(["grpc-status: 5"])
        var web = Interaction.sample(13, at: 13, "POST", type: "application/grpc-web")
        web.response?.trailers = HeaderFields(["grpc-status: 5"])
        return samples + [host, twice, socket, call, web]
    }

    @Test(arguments: [
        "~m get", "~m POST", "~u upload", "b\\.example", "~d example", "~d 8443", "~d other", "~d ^a$", "~dst 8443", "~c 404", "~c 0", "~q",
        "~s", "~e",
        "~a", "~all", "~http", "~websocket", "~t html", "~t css", "~tq multipart", "~ts png", "~ts json", "~hv 2", "~hv 1.1", "~grpc 5",
        "~grpc 0",
        "~grpc not_found", "~b needle", "~h host", "~hs type", "!~e", "!~d example", "~m GET & ~b needle", "~c 404 | ~b needle",
        "!(~q | ~b needle)",
        "~m POST & !~c 201", "!~grpc 5", "!~websocket", "!~t css",
    ])
    func aFilterMatchesRowsLikeExchanges(_ text: String) throws {
        let path = self.folder.file("pets.json")
        try RecordedExchanges.write(self.samples, to: path)
        let cassette = try InspectedCassette(path: path)
        #expect(cassette.refresh())
        let expression = try FilterParser.parse(text)
        let rows = RowFilter(expression, cassette: cassette)
        let exchanges = ExchangeFilter(expression, reader: BodyReader(cassettePath: path))
        let moment = cassette.moment
        let all = try RecordedExchanges.read(path)
        #expect(moment.rows.count == all.count)
        for (ordinal, interaction) in all.enumerated() {
            #expect(try rows.matches(ordinal, in: moment) == exchanges.matches(interaction), "\(interaction.id)")
        }
    }

    @Test func filtersOfRowsAloneDecodeNothing() throws {
        #expect(RowFilterProbe.looksAtRowsAlone("~m POST & !~c 201 | ~u pets ~d a"))
        #expect(!RowFilterProbe.looksAtRowsAlone("~m POST | ~b x"))
        #expect(!RowFilterProbe.looksAtRowsAlone("!~hq x"))
    }

    @Test func listsAreSortedByEveryColumn() throws {
        let path = self.folder.file("pets.json")
        try RecordedExchanges.write(self.samples, to: path)
        let cassette = try InspectedCassette(path: path)
        _ = cassette.refresh()
        let table = cassette.moment.rows
        let all = (0..<UInt32(table.count)).map { $0 }
        for sort in RowSort.allCases {
            let up = sort.sorted(all, descends: false, table)
            let down = sort.sorted(all, descends: true, table)
            #expect(up.sorted() == all && down.sorted() == all, "\(sort)")
        }
        let methods = RowSort.method.sorted(all, descends: false, table).map { table.text(table[Int($0)].method) ?? "" }
        #expect(methods == methods.sorted())
        #expect(Int(RowSort.size.sorted(all, descends: true, table)[0]) == 6, "the only one with a body of six bytes")
    }
}

private enum RowFilterProbe {
    static func looksAtRowsAlone(_ text: String) -> Bool {
        guard let folder = try? TemporaryFolder(), let expression = try? FilterParser.parse(text) else { return false }
        try? RecordedExchanges.write([.sample(1)], to: folder.file("a.json"))
        guard let cassette = try? InspectedCassette(path: folder.file("a.json")) else { return false }
        return RowFilter(expression, cassette: cassette).looksAtRowsAlone
    }
}
