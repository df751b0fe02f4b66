import CassetteModel
import CassettePlayback
import Testing
@testable import TrafficRules

@Suite struct FaultAndPaceTests {
    private func fault(_ fault: String) throws -> Fault {
        try #require(try RulesText.engine("- fault: \(fault)").plan(for: .get("http://a.example/"), now: .zero)?.fault)
    }

    @Test func faultsHaveKinds() throws {
        let none = HeaderFields()
        for (text, kind) in [
            ("{ status: 503 }", .status(503, headers: none)), ("{ kind: status, status: 503 }", .status(503, headers: none)),
            ("{ status: 429, retryAfter: 1500ms }", .status(429, headers: HeaderFields(["Retry-After: 2"]))),
            ("{ grpc: unavailable, message: later }", .grpc(try #require(GRPCStatus("14")), message: "later")),
            ("{ grpc: 5 }", .grpc(try #require(GRPCStatus("NOT_FOUND")), message: "")), ("close", .close),
            ("{ kind: close, code: 1011, reason: bye }", .webSocketClose(code: 1011, reason: "bye")),
            ("{ kind: close, code: none }", .webSocketClose(code: nil, reason: "")), ("reset", .reset(code: 8, isOfConnection: false)),
            ("{ kind: reset, code: REFUSED_STREAM }", .reset(code: 7, isOfConnection: false)),
            ("{ kind: reset, code: 11, scope: connection }", .reset(code: 11, isOfConnection: true)), ("refuse", .refuse), ("dns", .dns),
            ("tls", .tls(alert: 40)), ("{ kind: tls, alert: certificate_expired }", .tls(alert: 45)), ("timeout", .timeout),
            ("{ kind: stall, for: 20s }", .stall(.seconds(20))), ("truncate", .truncate), ("cut", .cut), ("garbage", .garbage),
            ("corrupt", .corrupt), ("slice", .slice(bytes: 1, delay: .zero)),
            ("{ kind: slice, bytes: 1kB, delay: 10ms }", .slice(bytes: 1000, delay: .milliseconds(10))), ("reorder", .reorder),
            ("repeat", .repeat), ("drop", .drop),
        ] as [(String, Fault.Kind)] {
            #expect(try self.fault(text).kind == kind, "\(text)")
        }
    }

    @Test(arguments: [
        ("64KiB", Fault.After.bytes(65_536)), ("0B", .bytes(0)), ("50%", .share(500)), ("12.5%", .share(125)), ("3 events", .events(3)),
        ("1 event", .events(1)), ("2 messages", .messages(2)),
    ])
    func faultsHavePlaces(text: String, after: Fault.After) throws {
        let fault = try self.fault("{ kind: reset, after: \(text) }")
        #expect(fault.after == after)
        #expect(fault.part == nil)
    }

    @Test func faultsHaveParts() throws {
        #expect(try self.fault("{ kind: cut, in: trailers }").part == .trailers)
        #expect(try self.fault("{ kind: stall, for: 1s, in: head }").part == .head)
    }

    /// A tunnel has no request yet.
    @Test(arguments: ["~m POST", "~d a.example & !~m POST", "~h x", "~b secret", "~hv 2", "~websocket | ~d a.example"])
    func faultsOfTLSKnowTheHostAlone(condition: String) throws {
        let problem = try RulesText.problem("- { when: '\(condition)', fault: tls }")
        #expect(problem?.contains("happens before any request is sent") == true)
        #expect(try RulesText.problem("- { when: '~d a.example & !~u :8443', fault: tls }") == nil)
    }

    // MARK: Pace

    @Test(arguments: ["request", "connection", "host", "session"]) func bucketsNeedARate(each: String) throws {
        #expect(try RulesText.problem("- pace: { latency: 1s, each: \(each) }")?.contains("\"each\" is for \"down\" or \"up\"") == true)
        #expect(try RulesText.problem("- pace: { up: 1Mbit, each: \(each) }") == nil)
    }

    private func pace(_ pace: String, _ url: String = "http://a.example/") throws -> Pace {
        try #require(try RulesText.engine("- pace: \(pace)").plan(for: .get(url), now: .zero)?.pace)
    }

    @Test func profilesAreNamesForNumbers() throws {
        for profile in PaceProfile.all {
            let pace = try self.pace(profile.name)
            #expect(pace.latency == .milliseconds(profile.latency))
            #expect(pace.down.map(\.bytesPerSecond) == [profile.down * 125])
            #expect(pace.up.map(\.bytesPerSecond) == [profile.up * 125])
        }
        let own = try self.pace("{ profile: slow-3g, latency: 1s, up: 64KiB/s, each: session }")
        #expect(own.latency == .seconds(1))
        #expect(own.down == [TokenRate(bytesPerSecond: 50_000, burst: 2500, scope: .session, rule: 0)])
        #expect(own.up.map(\.bytesPerSecond) == [65_536])
    }

    @Test func jitterIsEvenAroundTheLatency() throws {
        let engine = try RulesText.engine("- pace: { latency: 200ms, jitter: 50ms }")
        var latencies: [Double] = []
        for number in 0..<2000 {
            let pace = try #require(engine.plan(for: .get("http://a.example/\(number)"), now: .zero)?.pace)
            latencies.append(Quantity.seconds(pace.latency) * 1000)
        }
        #expect(latencies.allSatisfy { (150...250).contains($0) })
        // Five standard deviations of the mean of 2,000 even draws are 3.3 ms.
        #expect(abs(latencies.reduce(0, +) / 2000 - 200) < 3.3)
        #expect(latencies.count { $0 < 175 } > 400)
        #expect(latencies.count { $0 > 225 } > 400)
    }

    @Test func halfOfLognormalLatenciesAreBelowTheMedian() throws {
        let engine = try RulesText.engine("- pace: { lognormal: { median: 100ms, sigma: 0.5 } }")
        var latencies: [Double] = []
        for number in 0..<2000 {
            let pace = try #require(engine.plan(for: .get("http://a.example/\(number)"), now: .zero)?.pace)
            latencies.append(Quantity.seconds(pace.latency) * 1000)
        }
        // Five standard deviations of the count are 112, and of that beyond e^0.5 (15.9 %) 82.
        #expect(abs(latencies.count { $0 < 100 } - 1000) < 112)
        #expect(abs(latencies.count { $0 > 164.87 } - 317) < 82)
    }

    @Test(arguments: [("1.5Mbit", 187_500.0), ("500kbit/s", 62_500), ("8bit", 1), ("1MB/s", 1e6), ("64KiB", 65_536), ("10Mbps", 1_250_000)])
    func ratesHaveUnits(text: String, bytes: Double) { #expect(Quantity.rate(text) == bytes) }

    @Test(arguments: [
        ("0%", Quantity.Share.never), ("0.000000000000%", .never), ("100%", .always), ("100.0%", .always), ("50%", .below(1 << 63)),
        ("25%", .below(1 << 62)), ("99%", .below(18_262_276_632_972_456_099)), ("0.000000000001%", .below(184_467)),
        ("99.999999999999%", .below(18_446_744_073_709_367_148)),
    ])
    func sharesAreExact(text: String, share: Quantity.Share) { #expect(Quantity.share(text) == share) }

    @Test(arguments: ["", "5", "5 percent", "-1%", "100.1%", "1e2%", "0.0000000000001%", "%", "NaN%"])
    func otherTextsAreNoShares(text: String) { #expect(Quantity.share(text) == nil) }
}
