import CassetteModel
import CassetteStore
@testable import TapeBytes
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ExchangePageTests {
    private func page(_ interaction: Interaction, number: Int = 1, _ screen: InspectScreen = .piped) throws -> (
        text: String, problem: CassetteError?
    ) {
        let sink = TextSink()
        let page = ExchangePage(
            screen: screen, reader: BodyReader(cassettePath: "/nowhere/pets.json"), command: "wiretape inspect pets.json 1",
            write: sink.write)
        let problem = try page.show(interaction, number: number, first: Interaction.sample().started)
        return (sink.text, problem)
    }

    @Test func showsAllThereIs() throws {
        var interaction = Interaction.sample(
            1, at: 1250, "POST", body: Body(size: 3, content: .text(Array("abc".utf8))), timing: Timing(wait: 1, total: 1))
        interaction.request.target = "/pets;x"
        interaction.request.body = Body(size: 0, content: .empty)
        interaction.interim = [
            InterimResponse(
                version: .http11, status: 103, reason: Array("Early Hints".utf8), headers: HeaderFields(["Link: </a>"]), at: 0.5)
        ]
        interaction.response?.trailers = HeaderFields(["X-Sum: 7"])
        interaction.connection = ConnectionInfo(id: 2, remote: "127.0.0.1:9000", isReused: true)
        interaction.tunnel = TunnelCounts(sent: 1, received: 2)
        interaction.unknown = [UnknownMember(name: "color", json: [])]
        let result = try self.page(interaction)
        #expect(
            result.text == """
                exchange 1, 2026-11-21T12:00:01.250000Z, +1.250 s

                POST http://a/pets HTTP/1.1
                target      /pets;x
                Host: a

                body        empty

                HTTP/1.1 103 Early Hints  after 0.5 ms
                Link: </a>

                HTTP/1.1 200 OK
                Content-Type: application/json

                body        3 B, application/json
                  abc

                trailers    1 line
                X-Sum: 7

                outcome     complete
                tunnel      1 B sent, 2 B received
                connection  2 to 127.0.0.1:9000, reused
                timing      wait        1.0 ms  ████████████████████████████████
                            total       1.0 ms
                unknown     members color

                """)
        #expect(result.problem == nil)
    }

    @Test func aHandshakeIsShownAfterTheConnection() throws {
        var interaction = Interaction.sample(2, "GET", "https://a/pets", timing: Timing(connect: 1, tls: 3, total: 4))
        let tls = TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256")
        interaction.connection = ConnectionInfo(id: 2, remote: "192.0.2.1:443", isReused: false, tls: tls)
        #expect(
            try self.page(interaction).text.hasSuffix(
                """

                outcome     complete
                connection  2 to 192.0.2.1:443
                tls         TLSv1.3, TLS_AES_128_GCM_SHA256
                timing      connect     1.0 ms  ████████
                            tls         3.0 ms          ████████████████████████
                            total       4.0 ms

                """))
    }

    @Test func aFailureSaysWhy() throws {
        let failed = Interaction.sample(status: nil, outcome: .failed(Failure(kind: .refused, message: "nobody\u{1B}[2J listens")))
        #expect(try self.page(failed).text.contains("\noutcome     failed, refused: nobody\\u{1b}[2J listens\n"))
        let cut = Interaction.sample(outcome: .cut(Cut(by: .origin, reason: "")))
        #expect(try self.page(cut).text.contains("\noutcome     cut by the origin\n"))
    }

    @Test func aNumberThatIsNotTheIdSaysSo() throws {
        #expect(try self.page(.sample(7), number: 2).text.hasPrefix("exchange 2 (id 7), "))
    }

    @Test func noControlOfTheRecordingPasses() throws {
        let evil = "\u{1B}[2J\u{9B}\u{202E}"
        var interaction = Interaction.sample(1, "GET\(evil)", "http://a/\(evil)", outcome: .cut(Cut(by: .client, reason: evil)))
        interaction.request.target = evil
        interaction.request.headers = HeaderFields(["X\(evil): \(evil)"])
        interaction.response?.reason = Array(evil.utf8)
        interaction.response?.headers.append(line: [0x58, 0x3A, 0xE9, 0x1B])
        interaction.response?.body = Body(
            size: 1, content: .text(Array(evil.utf8)), original: Sidecar(path: evil, size: 1, sha256: ""),
            arrival: Arrival(isChunked: true, lastLine: evil), note: evil)
        interaction.connection = ConnectionInfo(
            id: 1, remote: evil, isReused: false,
            tls: TLSDetails(
                version: evil, cipher: evil, alpn: evil, sni: evil,
                chain: [
                    RecordedCertificate(
                        sha256: evil, subject: evil, issuer: evil, notBefore: interaction.started, notAfter: interaction.started)
                ]))
        interaction.unknown = [UnknownMember(name: evil, json: [])]
        let text = try self.page(interaction).text
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E)
        }
        #expect(text.contains(#"X:\xe9\u{1b}"#))
    }

    @Test func aBodyThatCannotBeReadDoesNotHideTheRest() throws {
        let sidecar = Sidecar(path: "pets.bodies/x.txt", size: 3, sha256: "")
        let result = try self.page(.sample(body: Body(size: 3, content: .file(sidecar))))
        #expect(result.problem != nil)
        #expect(result.text.contains("\n            in pets.bodies/x.txt\n            cannot be read: "))
        #expect(result.text.contains("\noutcome     complete\n"))
    }

    @Test func aTerminalGetsColors() throws {
        let text = try self.page(.sample(status: 404), .terminal(80, colored: true)).text
        #expect(text.contains("\u{1B}[1mGET http://a/pets HTTP/1.1\u{1B}[0m"))
        #expect(text.contains("\u{1B}[36mHost\u{1B}[0m: a"))
        #expect(text.contains("\u{1B}[33mHTTP/1.1 404 OK\u{1B}[0m"))
    }

    @Test func sentencesStayWithinATerminal() throws {
        let message = "\"a\" refused the connection: is the origin running, and at this port?"
        let interaction = Interaction.sample(status: nil, outcome: .failed(Failure(kind: .refused, message: message)))
        let wrapped = """
            outcome     failed, refused: "a" refused
                        the connection: is the
                        origin running, and at this
                        port?

            """
        #expect(try self.page(interaction, .terminal(40)).text.contains(wrapped))
        #expect(try self.page(interaction).text.contains("outcome     failed, refused: \(message)\n"))
    }

    @Test func aCommandToCopyStaysOnItsLine() throws {
        let interaction = FormFixtures.upload([13, 10] + FormFixtures.pets)
        #expect(try self.page(interaction, .terminal(40)).text.contains("\n            see: wiretape inspect pets.json 1 --lint\n"))
    }
}

@Suite struct ConnectionWordsTests {
    private static let day: Int64 = 86_400_000_000

    private func certificate(_ subject: String, issuer: String, days: ClosedRange<Int64> = 0...10) -> RecordedCertificate {
        RecordedCertificate(
            sha256: String(repeating: "0123456789abcdef", count: 4), subject: subject, issuer: issuer,
            notBefore: Timestamp(microseconds: days.lowerBound * Self.day), notAfter: Timestamp(microseconds: days.upperBound * Self.day))
    }

    private func facts(
        _ tls: TLSDetails?, isReused: Bool = false, opening: (number: Int, tls: TLSDetails)? = nil, day: Int64 = 5
    ) -> [ConnectionWords.Fact] {
        let connection = ConnectionInfo(id: 1, remote: "192.0.2.1:443", isReused: isReused, tls: tls)
        return ConnectionWords.facts(connection, opening: opening, at: Timestamp(microseconds: day * Self.day))
    }

    @Test func aPlainConnectionIsALine() {
        #expect(self.facts(nil) == [.init(label: "connection", lines: ["1 to 192.0.2.1:443"])])
        #expect(self.facts(nil, isReused: true) == [.init(label: "connection", lines: ["1 to 192.0.2.1:443, reused"])])
    }

    @Test func aHandshakeAndItsCertificatesFollow() {
        let tls = TLSDetails(
            version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", alpn: "http/1.1", sni: "example.test", isResumed: true,
            chain: [self.certificate("CN=example.test", issuer: "CN=Test CA"), self.certificate("CN=Test CA", issuer: "CN=Test CA")])
        let dates = ["valid from 1970-01-01 to 1970-01-11", "sha256 0123456789abcdef0123456789abcdef…"]
        #expect(
            self.facts(tls).dropFirst() == [
                .init(label: "tls", lines: ["TLSv1.3, TLS_AES_256_GCM_SHA384, resumed", "server name example.test, protocol http/1.1"]),
                .init(label: "certificate", lines: ["CN=example.test", "issued by CN=Test CA"] + dates),
                .init(label: "certificate", lines: ["CN=Test CA", "issued by itself"] + dates),
            ])
    }

    @Test func aReusedConnectionHasThoseOfItsOpening() {
        let opened = TLSDetails(version: "TLSv1.3", cipher: "X", chain: [self.certificate("CN=a", issuer: "CN=b")])
        let facts = self.facts(opened.withoutChain, isReused: true, opening: (4, opened))
        #expect(facts.map(\.label) == ["connection", "tls", "certificate"])
        #expect(facts.first?.lines == ["1 to 192.0.2.1:443, reused, opened by exchange 4"])
        #expect(facts.last?.lines.first == "CN=a")
    }

    @Test(arguments: [(9, ""), (11, ", expired by then"), (1, ", not valid yet then")] as [(Int64, String)])
    func datesAreHeldAgainstTheExchange(day: Int64, words: String) {
        let tls = TLSDetails(version: "TLSv1.3", cipher: "X", chain: [self.certificate("", issuer: "CN=b", days: 2...10)])
        #expect(
            self.facts(tls, day: day).last?.lines.dropLast() == [
                "without a subject", "issued by CN=b", "valid from 1970-01-03 to 1970-01-11" + words,
            ])
    }
}

@Suite struct TimingBarsTests {
    @Test func eachBarBeginsWhereTheOneBeforeEnded() {
        #expect(
            TimingBars.lines(Timing(connect: 8, send: 0, wait: 8, receive: 16, total: 32)) == [
                "connect     8.0 ms  ████████",
                "send        0.0 ms",
                "wait        8.0 ms          ████████",
                "receive      16 ms                  ████████████████",
                "total        32 ms",
            ])
    }

    @Test func aShortPhaseIsASliver() {
        #expect(TimingBars.lines(Timing(send: 0.001, total: 100)) == ["send        0.0 ms  ▏", "total       100 ms"])
    }

    @Test func barsHaveTheColorsOfTheList() {
        let lines = TimingBars.lines(Timing(tls: 1, send: 1, wait: 1, receive: 1), Paint(isOn: true))
        #expect(zip(lines, ["35", "33", "36", "32"]).allSatisfy { $0.contains("\u{1B}[\($1)m") && $0.hasSuffix("\u{1B}[0m") })
        #expect(lines.count == 4)
    }

    @Test func noTimingIsNoLine() {
        #expect(TimingBars.lines(Timing()) == [])
    }

    @Test(arguments: [
        Timing(blocked: 1e308, dns: 1e308, wait: 1, total: 7), Timing(send: -5, wait: 1e-300, total: -1),
        Timing(connect: 3, wait: 3, total: 1),
        Timing(wait: .infinity),
    ])
    func oddTimesStayWithinTheirColumns(timing: Timing) {
        for line in TimingBars.lines(timing) { #expect(TextWidth.columns(line) <= 28 + TimingBars.width) }
    }
}
