import Testing

@testable import CassetteModel
@testable import CassetteTools

@Suite struct ExchangeComparisonTests {
    private func changes(_ old: Interaction, _ new: Interaction, all: Bool = false) throws -> [String] {
        try ExchangeComparison(old: "a.json", new: "b.json", showsAll: all).changes(old, new).map {
            "\($0.place): \($0.old ?? "-") \($0.new ?? "-")"
        }
    }

    @Test func whatSaysNothingIsLeftOut() throws {
        let old = Interaction.care(
            1, at: 1, headers: ["Date: x"], connection: ConnectionInfo(id: 1, remote: "127.0.0.1:1", isReused: false))
        let new = Interaction.care(2, at: 2, headers: ["Date: y"], connection: ConnectionInfo(id: 2, remote: "127.0.0.1:2", isReused: true))
        #expect(try self.changes(old, new) == [])
        let all = try self.changes(old, new, all: true)
        #expect(all.map { String($0.prefix { $0 != ":" }) } == ["response header", "id", "started", "remote"])
    }

    @Test func everyFieldIsNamedWithItsMessage() throws {
        let old = Interaction.care(
            1, "POST", "http://a/?x=1", request: ["Host: a", "Accept: b"], requestBody: .json("1"), headers: ["ETag: a"], body: .text("a"))
        let new = Interaction.care(
            1, "POST", "http://a/?x=2", request: ["Host: a", "Accept: c"], requestBody: .json("2"), status: 404, headers: ["ETag: b"],
            body: .text("b"))
        #expect(
            try self.changes(old, new) == [
                "request query:x: 1 2", "request header:accept: b c", "request json:: 1 2", "response status: 200 404",
                "response header:etag: a b",
                "response body: byte 0: \"a\" \"b\"",
            ])
    }

    @Test func howItEndedCounts() throws {
        var failed = Interaction.care(1)
        failed.response = nil
        failed.outcome = .failed(Failure(kind: .refused, message: "no"))
        #expect(try self.changes(.care(1), failed) == ["outcome: complete failed: refused", "response: 200 -"])
        #expect(try self.changes(failed, .care(1)).last == "response: - 200")
        var interim = Interaction.care(1)
        interim.interim = [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: 0)]
        #expect(try self.changes(.care(1), interim) == ["interim:  103"])
        var trailers = Interaction.care(1)
        trailers.response?.trailers = HeaderFields(["X: 1"])
        #expect(try self.changes(.care(1), trailers) == ["response trailer header:x: - 1"])
    }
}
