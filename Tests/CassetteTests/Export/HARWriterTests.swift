import Testing

@testable import CassetteModel
@testable import TapeBytes

@Suite struct HARWriterTests {
    @Test func anEmptyLogIsAnArchive() throws {
        let log = try #require(HARExport.export([])["log"])
        #expect(log["version"]?.string == "1.2")
        #expect(HARExport.text(log["creator"]) == #"{ "name": "wiretape", "version": "0.1.0" }"#)
        #expect(HARExport.text(log["entries"]) == "[]")
        #expect(log["pages"] == nil)
    }

    @Test func allGoldenInteractionsAreOneArchive() throws {
        let interactions = GoldenInteractions.all.flatMap(\.interactions)
        let root = try HARExport.export(interactions)
        #expect(root["log"]?["entries"]?.elements.map { $0["request"]?["url"]?.string } == interactions.map(\.request.url))
    }

    @Test func requestAndResponseAreListed() throws {
        let entry = try HARExport.entry(
            Interaction(
                id: 1, started: Timestamp(microseconds: 0),
                request: RecordedRequest(
                    method: "GET", url: "http://a/?x=1&y=%ED%95%9C+%zz&&z#?f=1",
                    headers: HeaderFields(["Cookie: a=1; b=\"2=3\"", "X:  y "])),
                response: RecordedResponse(
                    status: 302, reason: Array("Found".utf8),
                    headers: HeaderFields([
                        "Location: /b", "Set-Cookie: id=7; Path=/; Expires=Sat, 21-Nov-2026 04:19:28 GMT; HttpOnly; Secure; path=/x",
                        "Set-Cookie: bad",
                    ])), connection: ConnectionInfo(id: 4, remote: "[::1]:9000", isReused: false)))
        let request = try #require(entry["request"])
        #expect(
            request["queryString"]?.elements.map { HARExport.text($0) } == [
                #"{ "name": "x", "value": "1" }"#, #"{ "name": "y", "value": "한 %zz" }"#, #"{ "name": "z", "value": "" }"#,
            ])
        #expect(
            request["cookies"]?.elements.map { HARExport.text($0) } == [
                #"{ "name": "a", "value": "1" }"#, #"{ "name": "b", "value": "\"2=3\"" }"#,
            ])
        #expect(request["headers"]?.elements.map { $0["value"]?.string } == [#"a=1; b="2=3""#, "y"])
        let response = try #require(entry["response"])
        #expect(response["redirectURL"]?.string == "/b")
        #expect(
            response["cookies"]?.elements.map { HARExport.text($0) } == [
                #"{ "name": "id", "value": "7", "expires": "2026-11-21T04:19:28.000000Z", "path": "/x", "httpOnly": true, "secure": true }"#
            ])
        #expect(entry["serverIPAddress"]?.string == "::1")
        #expect(entry["connection"]?.string == "4")
    }

    @Test func theHeadsSizeIsThatOfTheWire() throws {
        let entry = try HARExport.entry(HARExport.response(Body(size: 0, content: .empty), ["A: b"]))
        #expect(entry["response"]?["headersSize"]?.int == "HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8.count)
        #expect(entry["response"]?["bodySize"]?.int == 0)
    }

    @Test func absentPhasesAreMinusOneWhereHARAllowsIt() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        interaction.timing = Timing(connect: 1, tls: 2, wait: 3.5, total: 9)
        let entry = try HARExport.entry(interaction)
        #expect(
            HARExport.text(entry["timings"])
                == #"{ "blocked": -1, "dns": -1, "connect": 3, "send": 0, "wait": 3.5, "receive": 0, "ssl": 2 }"#)
        #expect(entry["time"]?.double == 6.5)
    }

    @Test func aHandshakeIsAMemberOfItsOwn() throws {
        var interaction = HARExport.response(Body(size: 0, content: .empty))
        #expect(try HARExport.entry(interaction)["_tls"] == nil)
        let tls = TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", alpn: "http/1.1").withoutChain
        interaction.connection = ConnectionInfo(id: 1, remote: "192.0.2.1:443", isReused: true, tls: tls)
        #expect(
            try HARExport.text(HARExport.entry(interaction)["_tls"])
                == #"{ "version": "TLSv1.3", "cipher": "TLS_AES_128_GCM_SHA256", "alpn": "http/1.1" }"#)
    }

    @Test func failedAndCutExchangesSaySo() throws {
        var interaction = HARExport.response(Body(size: 4, isComplete: false, content: .text(Array("half".utf8))))
        interaction.outcome = .cut(Cut(by: .origin, reason: "closed"))
        #expect(try HARExport.entry(interaction)["response"]?["_error"]?.string == "cut by the origin: closed")
        interaction.response = nil
        interaction.outcome = .failed(Failure(kind: .dns, message: "no such host"))
        let response = try HARExport.entry(interaction)["response"]
        #expect(response?["status"]?.int == 0)
        #expect(response?["_error"]?.string == "dns: no such host")
        #expect(response?["bodySize"]?.int == -1)
    }

    /// HAR 1.2: `time` is the sum of the timings, those of -1 left out; `ssl` is in `connect`.
    @Test(
        arguments: [
            (Failure.Kind.dns, "GET", "dns"), (.refused, "CONNECT", "connect"), (.tls, "GET", "connect"), (.timeout, "CONNECT", "connect"),
            (.timeout, "GET", "wait"), (.reset, "GET", "wait"),
        ] as [(Failure.Kind, String, String)])
    func timingsOfAFailureAddUpToItsTime(kind: Failure.Kind, method: String, phase: String) throws {
        let interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: method, url: "https://a/"), response: nil,
            outcome: .failed(Failure(kind: kind, message: "no")), timing: Timing(total: 12.5))
        let entry = try HARExport.entry(interaction)
        #expect(entry["time"]?.double == 12.5)
        let names = ["blocked", "dns", "connect", "send", "wait", "receive"]
        let times = names.compactMap { name in entry["timings"]?[name]?.double }.filter { $0 > 0 }
        #expect(times == [12.5])
        #expect(entry["timings"]?[phase]?.double == 12.5)
    }

    /// The wait for what did not come is no phase of its own in a cassette.
    @Test func theTimeUntilAnEndWithoutAnAnswerIsInItsPhase() throws {
        var interaction = HARExport.response(Body(size: 4, isComplete: false, content: .text(Array("half".utf8))))
        interaction.timing = Timing(connect: 2, send: 0.5, wait: 1, total: 60_000)
        interaction.outcome = .cut(Cut(by: .origin, reason: "closed"))
        let cut = try HARExport.entry(interaction)
        #expect(cut["time"]?.double == 60_000 && cut["timings"]?["receive"]?.double == 59_996.5)
        interaction.response = nil
        interaction.timing = Timing(connect: 2, send: 0.5, total: 60_000)
        interaction.outcome = .failed(Failure(kind: .timeout, message: "no"))
        let late = try HARExport.entry(interaction)
        #expect(late["time"]?.double == 60_000 && late["timings"]?["wait"]?.double == 59_997.5)
    }
}
